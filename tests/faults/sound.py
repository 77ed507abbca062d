"""Sound inputs of every kind, small, made once: what the mutations start from."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from ..curation.test_importers import minestudio, step, write_vpt
from ..made.recordings import MadeRecording
from ..model.small_models import disturbed, small_config
from ..recovery.test_annotation import made_video
from ..report import made_results
from .own_games import make_own_games
from .running import WarmServer

LIBRARY = """vocabulary: keys14
chunks:
  - {name: ahead, weight: 0.6, hold: {W: 1}}
  - name: left
    weight: 0.4
    steps: [{Turn_L: 1}, {Turn_L: 1}, {W: 1}, {W: 1}]
"""
DOMAIN = """name: made
title: Made
height: 32
width: 32
cut: {shortest: 0.1}
filter: {kind: negative, most_static: null}
"""
ROVER = "rover(forward,back,steer~)"
SEARCH = "--candidates 8 --elites 2 --iterations 1"
WINDOWS = "--windows 2 --context 3 --horizon 2 --split all"
RECOVER = f"--windows 2 --steps 2 --split all --validity endpoints {SEARCH}"
RECORD = "freedoom/room --size 32 --episode-steps 60"
PLAN = "--task freedoom/follow-room --episodes 1 --candidates 8 --iterations 1 --horizon 3 --baselines '' --no-film"
TRAIN = "tiny/lewm-rollout --quiet training.threads=1 training.validation_windows=8"


ABOUT = {"data": {"file": "made.h5", "source": "made", "attributes": {"effective": ["W", "A"]}}}


def make_model_and_room(folder: Path, server: WarmServer) -> None:
    """All that the kills need of `make_sound`."""
    folder.mkdir(parents=True, exist_ok=True)
    model = disturbed(small_config(context=3, image_size=32, encoding="sliding"))
    model.save_pretrained(folder / "model", ABOUT)
    _run(f"record {RECORD} --steps 480 --out room.h5", folder, server)


def _run(line: str, folder: Path, server: WarmServer) -> None:
    done = server.run(shlex.split(line), folder)
    assert done.code == 0, f"{line}: {done.err}"


def make_sound(folder: Path, server: WarmServer) -> Path:
    """Everything below `folder`. The files that commands make are made by the commands themselves."""
    run = partial(_run, folder=folder, server=server)
    make_model_and_room(folder, server)
    _shards(folder)
    run("inspect shards")
    run(f"record {RECORD} --branches 1 --steps 600 --out siblings.h5")
    run("idm --data room.h5 --out idm --steps 1 --batch 4 --size 32")
    run("idm --data room.h5 --latents model --out latent-idm --steps 1 --batch 4")
    shutil.copytree(folder / "model", folder / "drawn")
    run("decoder drawn --data room.h5 --frames 8 --steps 1 --width 16")
    made_video(folder / "clip.mkv", 10)
    made_video(folder / "clip2.mkv", 9, seed=1)
    run(f"annotate model clip.mkv --out annotated.h5 {SEARCH}")
    _recordings(folder)
    run("clean recording/run.mcap --judge rules --size 32 --out cleaned.h5")
    run(f"train {TRAIN} --data room.h5 --out run training.steps=3 training.log_every=1")
    config = folder / "run" / "config.yaml"
    config.write_text(config.read_text().replace("  steps: 3\n", "  steps: 4\n"))  # one step is left to do
    run(f"plan model {PLAN} --out plans")
    shutil.copy(folder / "plans" / "references" / "00-32px.npz", folder / "reference.npz")
    run(f"sheet model --data room.h5 {WINDOWS} --workers 1 --gallery 20 --truths truths.npz")
    run(f"drift model --data room.h5 {WINDOWS} --json drift.json")
    _results(folder)
    _records(folder, run)
    make_own_games(folder / "rover")
    disturbed(small_config(context=3, image_size=32, vocabulary=ROVER)).save_pretrained(folder / "rover-model", ABOUT)
    run("record rover/rover.py:Rover --size 32 --steps 160 --episode-steps 40 --out rover.h5")
    _hud_frames(folder / "frames")
    (folder / "domain.yaml").write_text(DOMAIN)
    run("harvest --domain domain.yaml --local clip.mkv --out harvested")
    run("replay record freedoom/room --steps 24 --size 32 --episode-steps 12 --out demos")
    (folder / "library.yaml").write_text(LIBRARY)
    keys = {"vocabulary": "keys14", "bindings": {"Jump": ["Space"], "W": ["W", "Up"]}, "threshold_px": 4}
    (folder / "keys.json").write_text(json.dumps(keys))
    return folder


def _recordings(folder: Path) -> None:
    for name in ("recording", "recording2", "vpt"):
        (folder / name).mkdir()
    for name, key in (("recording", 0x57), ("recording2", 0x41)):
        made = MadeRecording(folder / name, frames=40)
        made.key(100, key, True).key(400, key, False)
        made.at(200, "mouse/raw", {"last_x": 9, "last_y": -4, "button_flags": 0, "button_data": 0})
        made.at(0, "window", {"title": "game", "rect": [0, 0, 64, 64], "hWnd": 1})
        made.write()
    keys = ["key.keyboard.w", "key.keyboard.3"]
    write_vpt(
        folder / "vpt", [step(keys=keys, mouse={"dx": 2.0})] * 20 + [step(hotbar=4, isGuiOpen=True)] * 5
    )
    minestudio(folder / "studio", frames=40)


def _shards(folder: Path) -> None:
    """The index comes with the first command that reads them."""
    (folder / "shards").mkdir()
    for name in ("a", "b"):
        shutil.copy(folder / "room.h5", folder / "shards" / f"{name}.h5")


def _records(folder: Path, run: Callable[[str], None]) -> None:
    """What commands write with --json, one of each kind, and a page of their tables."""
    made = folder / "records" / "made"
    made.mkdir(parents=True)
    run(f"fidelity model --data room.h5 {WINDOWS} --workers 1 --truths truths.npz --json records/made/fidelity.json")
    run(f"drift model --data room.h5 {WINDOWS} --json records/made/drift.json")
    run(f"recover model --data room.h5 {RECOVER} --json records/made/recover.json")
    run("idm-score idm --data room.h5 --json records/made/idm-score.json")
    shutil.copy(folder / "plans" / "results.json", made / "plan.json")
    labels = {
        "folders": {"made": "Made"},
        "common": {"sound": "Sound", "copy-last": "copy", "idm-score": "idm"},
        "paper": {"sound": [0.9, 0.1, 0.8]},
    }
    (folder / "records" / "rows.json").write_text(json.dumps(labels))
    tables = {"drift": "drift", "paper": "drift", "fidelity": "fidelity", "plan": "plan", "recover": "recover"}
    tables |= {"idm": "idm-score", "idm-controls": "idm-score"}
    blocks = (f"<!-- actswm results table {kind} records/made/{file}.json -->\n" for kind, file in tables.items())
    (folder / "records" / "page.md").write_text("# Results\n\n" + "\n".join(blocks))
    shutil.copy(folder / "records" / "page.md", folder / "stale.md")
    run("results fill records/page.md")


def _hud_frames(folder: Path) -> None:
    """A world that moves, and something drawn over it that does not."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(9):
        picture = rng.integers(0, 80, (360, 640, 3), dtype=np.uint8)
        cv2.putText(picture, "HEALTH", (40, 320), cv2.FONT_HERSHEY_SIMPLEX, 2, (255, 255, 255), 4)
        cv2.imwrite(str(folder / f"{number}.png"), picture)


def _results(folder: Path) -> None:
    results = folder / "results"
    made_results.write(results / "drift.json", made_results.drift({"a": 0.1, "b": 0.4}))
    made_results.write(results / "fidelity.json", made_results.fidelity("a", "b"))
    made_results.write(results / "recover.json", made_results.recover())
    made_results.write(results / "plan" / "results.json", made_results.plan(a=3, random=1))
    made_results.write_film(results / "plan", "a", 0, True)
    shutil.copy(folder / "sheet.png", results / "sheet.png")
