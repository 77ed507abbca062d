from actswm.bench.annotation import bench_annotate


def test_both_sides_see_every_frame():
    result = bench_annotate(frames=80, rounds=1)
    assert result.frames == 80 and result.decode_fps > 0
    assert 0 < result.annotate_over_decode < 1, "annotation decodes, too"
