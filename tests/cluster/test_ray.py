"""Every command that knows Ray on two nodes, one of which is killed at its work: the result is one process's."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.errors import UserError
from actswm.executor import run_on_ray_in_order, run_tasks
from actswm.games.episodes import RecordingPlan
from actswm.games.recording import record
from actswm.recovery.annotation import AnnotationJob, annotate

from ..curation.replay.made import made_replay
from ..curation.replay.test_run import files as rendered
from ..curation.replay.test_run import run as render
from ..curation.test_run import contents, made_folder
from ..curation.test_run import run as clean
from ..model.small_models import disturbed, small_config
from ..recovery.test_annotation import QUICK, made_video
from .two_nodes import TwoNodes, holds_file_in, runs_a_game


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[TwoNodes]:
    if not os.environ.get("ACTSWM_REQUIRE_BENCH"):
        pytest.importorskip("ray", reason="the ray extra is not installed (make bench installs it)")
    cluster = TwoNodes()
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    saved = disturbed(small_config(context=3, encoding="sliding"))
    return saved.save_pretrained(tmp_path_factory.mktemp("run") / "model", {"data": {"source": "made"}})


def slow_square(folder: Path, number: int) -> int:
    (folder / f"{number}-{os.getpid()}").touch()
    time.sleep(1)
    return number * number


def refuse(number: int) -> int:
    raise UserError(f"{number} is not wanted")


def test_a_task_whose_node_dies_is_run_again_and_nothing_else(two_nodes: TwoNodes, tmp_path: Path) -> None:
    with two_nodes.second_dies(lambda pid: any(tmp_path.glob(f"*-{pid}"))):
        results = dict(run_tasks(partial(slow_square, tmp_path), range(4), 1, "ray"))
    assert results == {0: 0, 1: 1, 2: 4, 3: 9}
    begun = sorted(int(path.name.split("-")[0]) for path in tmp_path.iterdir())
    assert len(begun) == 5 and len(set(begun)) == 4


def test_results_in_order_are_asked_for_only_a_little_ahead(two_nodes: TwoNodes) -> None:
    asked = []

    def endless() -> Iterator[int]:
        while True:
            asked.append(len(asked))
            yield asked[-1]

    results = run_on_ray_in_order(str, endless())
    assert [next(results) for _ in range(5)] == ["0", "1", "2", "3", "4"]
    results.close()
    assert len(asked) <= 8


def test_what_a_task_refuses_is_said_in_its_own_words(two_nodes: TwoNodes) -> None:
    with pytest.raises(UserError) as refused:
        list(run_tasks(refuse, [7], 1, "ray"))
    assert type(refused.value) is UserError and str(refused.value) == "7 is not wanted"
    with pytest.raises(UserError, match=r"a task's process was killed .*run again to go on"):
        list(run_tasks(os._exit, [1], 1, "ray"))


def test_clean(two_nodes: TwoNodes, tmp_path: Path) -> None:
    folder = made_folder(tmp_path / "in", 4)
    clean(folder, tmp_path / "one.h5")
    with two_nodes.second_dies(holds_file_in(tmp_path)):
        clean(folder, tmp_path / "ray.h5", executor="ray")
    assert contents(tmp_path / "one.h5") == contents(tmp_path / "ray.h5")


def test_annotate(two_nodes: TwoNodes, model: Path, tmp_path: Path) -> None:
    videos = [made_video(tmp_path / f"v{number}.mkv", 24, seed=number) for number in range(4)]
    job = AnnotationJob(model, QUICK, threads=1)
    annotate(videos, tmp_path / "one.h5", job)
    with two_nodes.second_dies(holds_file_in(tmp_path)):
        report = annotate(videos, tmp_path / "ray.h5", job, executor="ray")
    assert [one.name for one in report.annotated] == [video.name for video in videos]
    assert contents(tmp_path / "one.h5") == contents(tmp_path / "ray.h5")


def test_record(two_nodes: TwoNodes, tmp_path: Path) -> None:
    plan = RecordingPlan("freedoom/maze", seed=3, size=(48, 48), episode_steps=150)
    record(plan, 700, tmp_path / "one.h5")
    with two_nodes.second_dies(runs_a_game):
        record(plan, 700, tmp_path / "ray.h5", executor="ray")
    assert contents(tmp_path / "one.h5") == contents(tmp_path / "ray.h5")


def test_plan(two_nodes: TwoNodes, model: Path, tmp_path: Path) -> None:
    def played(out: Path, *options: str) -> dict[str, object]:
        quick = "--candidates 8 --iterations 2 --horizon 2 --episodes 2 --no-film --baselines expert,noop"
        command = ["plan", str(model), "--task", "freedoom/follow-room", "--out", str(out), *quick.split(), *options]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
        episodes = {str(path.relative_to(out)): json.loads(path.read_text()) for path in out.glob("*/episode-*.json")}
        for episode in episodes.values():
            del episode["plan_cpu_seconds"]
        return episodes

    alone = played(tmp_path / "one")
    assert len(alone) == 6
    with two_nodes.second_dies(runs_a_game):
        assert played(tmp_path / "ray", "--executor", "ray") == alone


def test_replay(two_nodes: TwoNodes, tmp_path: Path) -> None:
    demo = tmp_path / "made.dem"
    demo.write_bytes(b"a made demo")
    render(made_replay(demo), tmp_path / "one")
    render(made_replay(demo), tmp_path / "ray", executor="ray")
    assert rendered(tmp_path / "ray") == rendered(tmp_path / "one")
