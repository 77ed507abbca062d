"""The cleaning benchmark runs, on recordings small enough for a test."""

from actswm.bench.clean import bench_clean


def test_every_figure_is_there() -> None:
    result = bench_clean(seconds=4, repeats=1, shape=(90, 160), lengths_s=(4, 8))
    assert result.frames == 200 and (result.height, result.width) == (90, 160)
    assert result.clean_over_decode > 0 and result.clean_over_decode_cpu > 0
    assert result.rss_growth_mib == result.rss_ten_minutes_mib - result.rss_one_minute_mib
    assert result.rss_one_minute_mib > 20
