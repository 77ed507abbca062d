import json
import re

import cv2
import numpy as np
import pytest

from actswm.errors import UserError
from actswm.origin import Origin
from actswm.report.films import choose_films
from actswm.report.picture_note import write_note
from actswm.report.sources import gather

from . import made_results as made


def picture(path, kind="sheet", command="actswm sheet a"):
    cv2.imwrite(str(path), np.zeros((4, 4, 3), np.uint8))
    write_note(path, kind, path.name, "alt", Origin(command, "0123456789ab", seed=1))
    return path


def training_run(folder, finished=True):
    (folder / "logs").mkdir(parents=True)
    (folder / "config.yaml").write_text("training:\n  steps: 4\n")
    (folder / "logs" / "metrics.csv").write_text(
        "epoch,loss,step,val/loss\n0,0.5,1,\n0,0.4,3,\n0,0.3,3,\n,,4,0.35\n"
    )
    if finished:
        origin = {"command": "actswm train tiny/lewm", "seed": 3, "steps": 4, "commit": "0123456789ab"}
        origin["data"] = {"file": "room.h5", "source": "freedoom/room"}
        config = {"actswm_version": "0.1.0", "provenance": origin}
        made.write(folder / "model" / "config.json", config)
    return folder


def test_a_folder_is_searched_through_and_other_files_do_not_matter(tmp_path):
    made.write(tmp_path / "x" / "drift.json", made.drift({"a": 0.5}))
    made.write(tmp_path / "fidelity.json", made.fidelity("a"))
    made.write(tmp_path / "recover" / "r.json", made.recover())
    made.write(tmp_path / "plan" / "results.json", made.plan(a=2, random=0))
    made.write_film(tmp_path / "plan", "a", 0, True)
    picture(tmp_path / "sheet.png")
    training_run(tmp_path / "run")
    made.write(tmp_path / "foreign.json", {"kind": ["drift"]})
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "notes.txt").write_text("notes")
    made.write(tmp_path / ".drift.json.1.tmp.json", made.drift({"half": 0.5}))
    cv2.imwrite(str(tmp_path / "foreign.png"), np.zeros((4, 4, 3), np.uint8))
    found = gather([tmp_path])
    assert [model.name for model in found.drift[0].models] == ["a"] and len(found.drift) == 1
    assert len(found.fidelity) == len(found.recoveries) == len(found.plans) == 1
    assert [film.path.name for film in found.plans[0].films] == ["episode-00.mp4"]
    assert [each.note.caption for each in found.pictures] == ["sheet.png"]
    assert [run.name for run in found.runs] == ["run"]
    again = gather([tmp_path, tmp_path / "x" / "drift.json", tmp_path / "run"])
    assert again == found, "given twice, shown once"


def test_runs_with_and_without_an_end_and_weights_alone(tmp_path):
    done, going = training_run(tmp_path / "done"), training_run(tmp_path / "going", finished=False)
    runs = gather([done, going, done / "model"]).runs
    assert [run.name for run in runs] == ["done", "going", "done"]
    assert runs[0].losses == {"loss": ((1, 0.5), (3, 0.3)), "val/loss": ((4, 0.35),)}
    assert runs[0].steps == 4 and runs[0].origin.seed == 3 and runs[0].data == "room.h5 (freedoom/room)"
    assert runs[1].steps is None and not runs[1].origin.command
    assert not runs[2].losses and runs[2].origin == runs[0].origin


def test_the_same_counts_elsewhere_keep_their_films(tmp_path):
    counts = made.plan(a=2)
    made.write(tmp_path / "counts.json", counts)
    made.write(tmp_path / "plan" / "results.json", counts)
    made.write_film(tmp_path / "plan", "a", 0, True)
    (plan,) = gather([tmp_path]).plans
    assert len(plan.films) == 1


def test_films_that_tell_most_come_first(tmp_path):
    for episode, outcomes in enumerate([(False, False), (True, True), (False, True)]):
        for method, won in zip(("a", "b"), outcomes):
            made.write_film(tmp_path, method, episode, won)
        made.write_film(tmp_path, "random", episode, False, planner=False)
    made.write(tmp_path / "results.json", made.plan(a=1, b=2, random=0))
    (tmp_path / "a" / "episode-07.mp4").write_bytes(b"still being played")
    (plan,) = gather([tmp_path]).plans
    chosen = choose_films(plan.films, 2)
    assert [[(film.method, film.episode) for film in group] for group in chosen] == [
        [("a", 2), ("b", 2)],
        [("a", 0), ("b", 0)],
    ]
    assert choose_films(plan.films, 0) == []
    baselines = [film for film in plan.films if not film.planner]
    assert choose_films(baselines, 1)[0][0].method == "random"


def without(tree, key):
    return {name: value for name, value in tree.items() if name != key}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent", None, "no such file or folder"),
        ("notes.txt", "notes", "not a result of actswm"),
        ("broken.json", "{", "not a result of actswm"),
        ("list.json", "[1]", "not a result of actswm"),
        (
            "drift.json",
            json.dumps(without(made.drift({"a": 1}), "models")),
            "this drift result has no field 'models'",
        ),
        ("drift.json", json.dumps({**made.drift({"a": 1}), "models": 3}), "this drift result is damaged"),
        ("drift.json", json.dumps(made.drift({})), "it holds no step of a model"),
        ("r.json", json.dumps(without(made.recover(), "scores")), "write it again with actswm recover"),
        ("picture.png", "no png", "not a result of actswm"),
    ],
)
def test_bad_input(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=f"^{re.escape(str(path))}: .*{re.escape(message)}"):
        gather([path])


def test_a_folder_with_nothing_and_damaged_runs(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="empty: holds no training run"):
        gather([tmp_path / "empty"])
    run = training_run(tmp_path / "run")
    (run / "logs" / "metrics.csv").write_text("loss,step\n0.5,1\nx,2\n")
    with pytest.raises(UserError, match=r"metrics.csv: line 3 is not a logged step"):
        gather([run])
    other = training_run(tmp_path / "other")
    (other / "model" / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"config.json: has no sound provenance"):
        gather([other])
    made.write(tmp_path / "plan" / "results.json", made.plan(a=1))
    made.write_film(tmp_path / "plan", "a", 0, True).with_suffix(".json").write_text("{}")
    with pytest.raises(UserError, match=r"episode-00.json: not an episode"):
        gather([tmp_path / "plan"])
