from actswm.bench.recovery import bench_recover
from actswm.recovery.search import RecoverySettings


def test_both_searches_find_the_same_actions():
    result = bench_recover(1, RecoverySettings(candidates=16, elites=4, iterations=2))
    assert result.max_action_difference < 1e-4 and result.context == 32
