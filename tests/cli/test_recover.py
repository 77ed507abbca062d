import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from actswm.cli.main import app
from actswm.controls import KEYS14
from actswm.errors import UserError
from actswm.formats.owamcap import OwamcapWriter
from actswm.saved_models import SHIPPED

from ..model.small_models import disturbed, small_config
from ..recovery.panning import write_panning_file
from ..recovery.test_motion_idm import made_video as video_of

MINECRAFT_CLIP = Path(__file__).parents[2] / ".." / "shared" / "samples" / "minecraft" / "build_pillar_0.mp4"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    model = disturbed(small_config(context=3, image_size=32, encoding="sliding"))
    return model.save_pretrained(tmp_path_factory.mktemp("square") / "model")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def quick(checkpoint, data):
    return ("recover", checkpoint, "--data", data, "--windows", 3, "--steps", 2, "--validity", "endpoints")


SEARCH = ("--candidates", 32, "--elites", 4, "--iterations", 2)


def test_recover_with_every_row_of_the_table(tmp_path, checkpoint, square_file):
    trained = run(
        "idm", "--data", square_file, "--out", tmp_path / "idm", "--steps", 3, "--size", 32, "--batch", 4
    )
    assert trained.exit_code == 0, trained.output
    figures, picture = tmp_path / "r.json", tmp_path / "roll.png"
    done = run(
        *quick(checkpoint, square_file),
        *SEARCH,
        "--idm",
        tmp_path / "idm",
        "--json",
        figures,
        "--picture",
        picture,
    )
    assert done.exit_code == 0, done.output
    result = json.loads(figures.read_text())
    rows = {"idm", "always-off", "always-on", "pool-frequency", "copy-last"}
    assert rows < set(result["scores"]) and len(result["scores"]) == 6
    [costs] = result["costs"].values()
    assert costs["gap"]["low"] <= costs["gap"]["mean"] <= costs["gap"]["high"]
    assert len(result["window_rows"]) == 3 and result["options"]["target"] == "far"
    assert cv2.imread(str(picture)).std() > 10
    assert not list(tmp_path.glob(".*"))


def test_a_proposal_is_judged_by_the_model(tmp_path, checkpoint, square_file):
    small = ("--steps", 3, "--size", 32, "--batch", 4)
    trained = run("idm", "--data", square_file, "--out", tmp_path / "idm", *small)
    assert trained.exit_code == 0, trained.output
    other = shutil.copy(square_file, tmp_path / "other.h5")
    asked = (*quick(checkpoint, square_file), *SEARCH, "--idm", tmp_path / "idm", "--proposal", "--weigh-windows", 2)
    done = run(*asked, "--weigh-on", other, "--target", "joint", "--json", tmp_path / "r.json")
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "r.json").read_text())
    [(row, weighing)] = result["weighing"].items()
    assert row.endswith(" + idm") and row in result["scores"] and "what the world model adds" in done.output
    assert weighing["chosen_on"] == "other.h5" and weighing["windows"] == 2
    assert set(weighing["gained"]) == {"all", *weighing["weights"]}
    for wrong, says in (
        (("--target", "far"), "--target every-step or joint"),
        (("--target", "every-step", "--weigh-on", square_file), "another recording"),
    ):
        refused = run(*asked, *wrong)
        assert isinstance(refused.exception, UserError) and says in str(refused.exception)
    without = run(*quick(checkpoint, square_file), "--proposal", "--target", "every-step")
    assert isinstance(without.exception, UserError) and "needs --idm" in str(without.exception)


def test_the_oracle_is_marked(checkpoint, square_file):
    done = run(*quick(checkpoint, square_file), *SEARCH, "--guide", "gt-dist")
    assert done.exit_code == 0 and "ORACLE" in done.output


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("--img-size", 128), "takes 32 px frames"),
        (("--steps", 500), "no valid window"),
        (("--picture", "x.png", "--picture-window", 9), "--picture-window 9"),
    ],
)
def test_wrong_arguments_say_what_to_do(checkpoint, square_file, wrong, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*quick(checkpoint, square_file), *SEARCH, *wrong)
    assert isinstance(done.exception, UserError) and says in str(done.exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [("--guide", "luck"), ("--target", "near"), ("--split", "exam")], ids=" ".join)
def test_a_wrong_choice_is_answered_with_the_known_ones(checkpoint, square_file, wrong):
    done = run(*quick(checkpoint, square_file), *wrong)
    assert done.exit_code == 2 and f"'{wrong[1]}' is not one of" in done.output


def test_annotate_reports_bad_videos_and_ends_with_1(tmp_path, checkpoint):
    from ..recovery.test_annotation import made_video

    good, bad = made_video(tmp_path / "good.mkv", 10), tmp_path / "bad.mp4"
    bad.write_bytes(b"no video at all")
    done = run("annotate", checkpoint, bad, good, "--out", tmp_path / "out.h5", *SEARCH)
    assert done.exit_code == 1, done.output
    assert f"failed: {bad}: cannot be opened" in done.output and "9 frames of 1 videos" in done.output
    assert "vocabulary keys14" in done.output and "recovered by square" in done.output
    assert run("inspect", tmp_path / "out.h5").exit_code == 0


@pytest.mark.skipif(not MINECRAFT_CLIP.exists(), reason="needs ../shared/samples")
@pytest.mark.parametrize(
    "folder", sorted(SHIPPED.glob("*/actswm-plus")), ids=lambda folder: folder.parent.name
)
def test_a_real_clip_is_annotated_with_shipped_weights(tmp_path, folder):
    name = folder.relative_to(SHIPPED)
    done = run("annotate", name, MINECRAFT_CLIP, "--out", tmp_path / "out.h5", *SEARCH)
    assert done.exit_code == 0, done.output
    source = json.loads((folder / "config.json").read_text())["provenance"]["data"]["source"]
    assert "recovered by actswm-plus (" in done.output and f"trained on {source}" in done.output
    assert run("inspect", tmp_path / "out.h5").exit_code == 0


def test_score_compares_two_recordings(tmp_path):
    rng = np.random.default_rng(0)
    true = (rng.random((80, 14)) < 0.3).astype(np.float32)
    true[:, 11] *= 1 - true[:, 10]  # opposite turns cancel in a mouse
    true[:, 13] *= 1 - true[:, 12]
    guess = true.copy()
    guess[:, 0] = 0  # never presses W
    for name, actions, start in (("true", true, 10**18), ("guess", guess, 2 * 10**18)):
        with OwamcapWriter(
            tmp_path / f"{name}.mcap", height=16, width=16, fps=20.0, vocabulary=KEYS14, start_ns=start
        ) as writer:
            for action in actions:
                writer.add(np.zeros((16, 16, 3), np.uint8), action)
    figures = tmp_path / "s.json"
    done = run("score", tmp_path / "guess.mcap", tmp_path / "true.mcap", "--steps", 5, "--json", figures)
    assert done.exit_code == 0, done.output
    controls = {control["name"]: control for control in json.loads(figures.read_text())["controls"]}
    assert controls["W"]["recall"]["mean"] == 0
    assert all(c["f1"]["mean"] == 1 for name, c in controls.items() if name != "W")


def test_idm_score_and_annotation_by_idm(tmp_path):
    data = write_panning_file(tmp_path / "panning.h5", episodes=6, length=80)
    trained = run("idm", "--data", data, "--out", tmp_path / "idm", "--steps", 2, "--size", 32, "--batch", 4)
    assert trained.exit_code == 0, trained.output
    scored = run("idm-score", tmp_path / "idm", "--data", data, "--other", data, "--json", tmp_path / "s.json")
    assert scored.exit_code == 0, scored.output
    figures = json.loads((tmp_path / "s.json").read_text())
    assert set(figures["separations"]) == {"panning", "white noise", "frozen picture", "black", "text editor"}
    assert len(figures["reliability"][0]["count"]) == 15
    black = video_of(tmp_path / "black.mkv", np.zeros((60, 32, 32, 3), np.uint8))
    line = ("annotate", black, "--idm", tmp_path / "idm", "--out", tmp_path / "out.h5")
    refused = run(*line)
    assert refused.exit_code == 1 and "--force" in refused.output
    forced = run(*line, "--force", "--min-confidence", 1)
    assert forced.exit_code == 0, forced.output
    assert "marked invalid" in forced.output and "60 frames of 1 videos" in forced.output
    anew = ("annotate", data, "--idm", tmp_path / "idm", "--out", tmp_path / "anew.h5", "--force")
    relabelled = run(*anew)
    assert relabelled.exit_code == 0 and "480 frames of 6" in relabelled.output, relabelled.output
    assert "labelled alone" in str(run(*anew, "--fps", 10).exception)
    nameless = run("annotate", black, "--out", tmp_path / "out.h5")
    assert nameless.exit_code != 0
