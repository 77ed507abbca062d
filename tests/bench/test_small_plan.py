"""The benchmark of a small plan runs, and both searches find the same plan."""

import pytest

from actswm.bench.small_plan import bench_small_plan
from actswm.planning.planner import PlanSettings


@pytest.mark.parametrize("search", ["categorical", "library-init"])
def test_the_planner_finds_what_the_naive_search_finds(search) -> None:
    settings = PlanSettings(search=search, horizon=10, candidates=32, iterations=2)
    result = bench_small_plan(1, settings)
    assert result.relative_cost_diff < 1e-4
    assert result.speedup_vs_naive == pytest.approx(result.naive_cpu_seconds / result.cpu_seconds)
