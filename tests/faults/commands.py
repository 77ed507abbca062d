"""Every command that reads an input of some kind, as short as it can be run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from .sound import PLAN, RECORD, RECOVER, ROVER, SEARCH, TRAIN, WINDOWS

SHORT = {
    "WINDOWS": WINDOWS, "SEARCH": SEARCH, "TRAIN": TRAIN, "PLAN": PLAN, "RECORD": RECORD,
    "RECOVER": RECOVER, "OWN": "--size 32 --steps 60 --episode-steps 40 --out out.h5",
    "BEACON": "--task rover/beacon.yaml --episodes 1 --no-film --candidates 8 --iterations 1 --horizon 2 "
    "--baselines expert --out plans",
    "CLEAN": "--judge rules --size 32", "ROOM": "--data S/room.h5", "RENDER": "--workers 1 --gallery 20",
}  # fmt: skip
"""What stands for several words in a command line."""


@dataclass(frozen=True)
class Command:
    """A command line, run in the case's folder. `S/` stands for the folder of sound inputs.

    `share`: how often it is drawn, less where an engine must start. `writes`: the dataset file that must be sound
    if it appears. `works_on`: what it refuses may have changed, for it works on it until it meets the fault.
    `play` would go on for ever: Ctrl+C when it says how to end it.
    """

    name: str
    line: str
    share: float = 1.0
    writes: str = ""
    works_on: bool = False

    @property
    def until(self) -> str | None:
        return "Ctrl+C ends" if self.line.startswith("play") else None

    def arguments(self, sound: Path) -> list[str]:
        words = shlex.split(" ".join(SHORT.get(word, word) for word in self.line.split(" ")))
        return [word.replace("S/", f"{sound}/") for word in words]


DATASET = (
    Command("merge", "merge room.h5 S/room.h5 --out merged.h5", writes="merged.h5"),
    Command("train", "train TRAIN --data room.h5 --out run training.steps=1", 0.8),
    Command("idm", "idm --data room.h5 --out idm --steps 1 --batch 4 --size 32"),
    Command("drift", "drift S/model --data room.h5 WINDOWS --windows 8 --controls --bound"),
    Command("fidelity", "fidelity S/model --data room.h5 WINDOWS --workers 1 --truths t.npz", 0.4),
    Command("sheet", "sheet S/model --data room.h5 WINDOWS RENDER --truths t.npz", 0.4),
    Command("recover", "recover S/model --data room.h5 RECOVER"),
    Command("annotate", "annotate S/model S/clip.mkv --actions room.h5 --out out.h5 SEARCH", writes="out.h5"),
    Command("inspect", "inspect room.h5 --sheet sheet.png", 0.5),
    Command("record", "record RECORD --steps 500 --out room.h5", 0.5, writes="room.h5"),
    Command("play", "play freedoom/room --model S/model --data room.h5 --gallery 20", 0.3),
    Command("play", "play freedoom/room --record room.h5 --size 32", 0.2, writes="room.h5"),
)
WEIGHTS = (
    Command("drift", "drift model ROOM WINDOWS"),
    Command("fidelity", "fidelity model ROOM WINDOWS --workers 1 --truths t.npz", 0.3),
    Command("sheet", "sheet model ROOM WINDOWS RENDER --truths S/truths.npz", 0.5),
    Command("recover", "recover model ROOM RECOVER"),
    Command("annotate", "annotate model S/clip.mkv --out out.h5 SEARCH", writes="out.h5"),
    Command("export", "export model --out shared"),
    Command("plan", "plan model PLAN --reference S/reference.npz --out plans", 0.5),
    Command("report", "report model --out report.html"),
    Command(
        "bench precision",
        "bench precision model S/reference.npz --library S/library.yaml --moments 1",
        0.3,
    ),
    Command("play", "play freedoom/room --model model ROOM --gallery 20", 0.2),
)
SHARDS = (
    Command("merge", "merge shards S/room.h5 --out merged.h5", writes="merged.h5"),
    Command("train", "train TRAIN --data shards --out run training.steps=1", 0.8),
    Command("idm", "idm --data shards --out idm --steps 1 --batch 4 --size 32", 0.5),
    Command("drift", "drift S/model --data shards WINDOWS"),
    Command("fidelity", "fidelity S/model --data shards WINDOWS --workers 1 --truths t.npz", 0.4),
    Command("recover", "recover S/model --data shards RECOVER"),
    Command("annotate", "annotate S/model S/clip.mkv --actions shards --out out.h5 SEARCH", writes="out.h5"),
    Command("inspect", "inspect shards --sheet sheet.png", 0.5),
    Command("merge", "merge shards/a.h5,shards/b.h5 --out merged.h5", 0.5, writes="merged.h5"),
)
SIBLINGS = (
    Command("merge", "merge siblings.h5 S/siblings.h5 --out merged.h5", writes="merged.h5"),
    Command("train", "train TRAIN --data siblings.h5 --out run training.steps=1"),
    Command("drift", "drift S/model --data siblings.h5 WINDOWS"),
    Command("fidelity", "fidelity S/model --data siblings.h5 WINDOWS --workers 1 --truths t.npz", 0.7),
    Command("sheet", "sheet S/model --data siblings.h5 WINDOWS RENDER --truths t.npz", 0.5),
    Command("inspect", "inspect siblings.h5 --sheet sheet.png", 0.3),
    Command("record", "record RECORD --branches 1 --steps 620 --out siblings.h5", 0.5, writes="siblings.h5"),
)
OWN_RECORDING = (
    Command("merge", "merge rover.h5 S/rover.h5 --out merged.h5", writes="merged.h5"),
    Command("train", f"train TRAIN --data rover.h5 --out run training.steps=1 model.vocabulary={ROVER}"),
    Command("drift", "drift S/rover-model --data rover.h5 WINDOWS"),
    Command("fidelity", "fidelity S/rover-model --data rover.h5 WINDOWS --workers 1 --truths t.npz", 0.5),
    Command(
        "fidelity --game",
        "fidelity S/rover-model --data rover.h5 WINDOWS --workers 1 --truths t.npz --game rover/rover.py:Rover",
        0.5,
    ),
    Command("inspect", "inspect rover.h5 --sheet sheet.png", 0.3),
    Command("record", "record rover/rover.py:Rover OWN --steps 170 --out rover.h5", 0.5, writes="rover.h5"),
)
OWN_GAME = (
    Command("record", "record rover/rover.py:Rover OWN", 1, writes="out.h5"),
    Command("record --branches", "record rover/rover.py:Rover OWN --branches 1", 0.5, writes="out.h5"),
    Command("play", "play rover/rover.py:Rover --size 32 --record out.h5", 0.5, writes="out.h5"),
    Command("tasks check", "tasks check rover/beacon.yaml --workers 1 --json t.json"),
    Command("plan", "plan S/rover-model BEACON", 0.5),
    Command(
        "fidelity --game",
        "fidelity S/rover-model --data S/rover.h5 WINDOWS --workers 1 --truths t.npz --game rover/rover.py:Rover",
        0.3,
    ),
)
ENVIRONMENT = (
    Command("record", "record gym:rover.yard:Yard-v0 OWN", writes="out.h5"),
    Command("record --branches", "record gym:rover.yard:Yard-v0 OWN --branches 1", 0.5, writes="out.h5"),
    Command("play", "play gym:rover.yard:Yard-v0 --size 32 --record out.h5", 0.7, writes="out.h5"),
)
DECODER = (
    Command("strip", "strip drawn ROOM --windows 2 --horizon 2 --split all --cell 32 --out s.gif"),
    Command("sheet", "sheet drawn ROOM WINDOWS RENDER --truths S/truths.npz"),
    Command("play", "play freedoom/room --model drawn", 0.3),
)
NAMES = (
    Command("drift", "drift NAME ROOM WINDOWS"),
    Command("export", "export NAME --out shared"),
    Command("models", "models NAME"),
    Command("annotate", "annotate NAME S/clip.mkv --out out.h5 SEARCH", writes="out.h5"),
    Command("strip", "strip NAME ROOM --windows 2 --horizon 2 --split all --cell 32 --out s.gif", 0.3),
    Command("decoder", "decoder NAME ROOM --out drawn --frames 8 --steps 1 --width 16", 0.5),
    Command("idm --latents", "idm ROOM --latents NAME --out idm --steps 1 --batch 4", 0.3),
    Command("plan", "plan NAME PLAN --out plans", 0.5),
)
RECORDS = (
    Command("report", "report records/made --out report.html"),
    Command("results fill", "results fill records/page.md", 2),
    Command("results table", "results table drift records/made/drift.json", 0.5),
    Command("results table", "results table recover records/made/recover.json", 0.5),
    Command("results table", "results table idm-controls records/made/idm-score.json", 0.5),
)
TASKS = (
    Command("tasks check", "tasks check rover/beacon.yaml --workers 1 --json t.json"),
    Command("plan", "plan S/rover-model BEACON"),
    Command("record", "record rover/beacon.yaml OWN --behaviour expert", 0.7, writes="out.h5"),
)
RUN = (
    Command(
        "train --resume",
        "train TRAIN ROOM --out run --resume training.steps=4 training.log_every=1",
        2,
        works_on=True,
    ),
    Command("report", "report run --out report.html"),
    Command("export", "export run --out shared", 0.5),
    Command("train", "train TRAIN ROOM --out new training.steps=1 training.start_from=run/model", 0.7),
)
RESULTS = (
    Command("report", "report results --out report.html", 3),
    Command("report", "report results/drift.json results/plan/results.json --out report.html"),
    Command(
        "plan --beside",
        "plan S/model PLAN --reference S/reference.npz --out plans --picture p.png "
        "--beside results/plan/results.json",
        0.3,
    ),
)
OWAMCAP = (
    Command("clean", "clean recording S/recording2 CLEAN --out out.h5", 3, writes="out.h5"),
    Command("clean --segments", "clean recording CLEAN --out out.h5 --segments cut", writes="out.h5"),
    Command("score", "score recording/run.mcap S/recording/run.mcap --steps 3"),
)
VIDEO = (
    Command("annotate", "annotate S/model clip.mkv S/clip2.mkv --out out.h5 SEARCH", writes="out.h5"),
    Command(
        "annotate --owamcap",
        "annotate S/model clip.mkv --out out.h5 --owamcap mcap SEARCH",
        0.5,
        writes="out.h5",
    ),
)
OPTIONS = (
    Command("drift", "drift S/model ROOM WINDOWS"),
    Command("recover", "recover S/model ROOM RECOVER"),
    Command("annotate", "annotate S/model S/clip.mkv --out out.h5 SEARCH", writes="out.h5"),
    Command("record", "record RECORD --steps 8 --out new.h5 --seed 1", writes="new.h5"),
    Command("clean", "clean S/recording CLEAN --out out.h5 --silence 2.0", writes="out.h5"),
    Command("import vpt", "import vpt S/vpt --size 32 --out out.h5", writes="out.h5"),
    Command("idm", "idm ROOM --out idm --steps 1 --batch 4 --size 32"),
    Command("score", "score S/recording/run.mcap S/recording/run.mcap --steps 3 --frameskip 4"),
    Command("plan", "plan S/model PLAN --reference S/reference.npz --out plans", 0.5),
    Command("report", "report S/results --out report.html --title x --films 1"),
    Command("export", "export S/model --out shared"),
    Command("inspect", "inspect S/room.h5 --sheet s.png --seed 1"),
    Command("merge", "merge S/room.h5 S/room.h5 --out m.h5"),
    Command("sheet", "sheet S/model ROOM WINDOWS RENDER --truths t.npz --out s.png", 0.3),
)
REPLAYS = (
    Command("replay inspect", "replay inspect demos"),
    Command("replay windows", "replay windows demos --min-seconds 0 --json windows.json"),
    Command(
        "replay render",
        "replay render demos --size 32x32 --min-seconds 0 --out clips",
        0.5,
        writes="clips/dataset.h5",
    ),
)
HARVESTS = tuple(
    Command(f"harvest {stage}", f"harvest {stage} harvested", works_on=True)
    for stage in ("download", "normalise", "cut", "filter", "export", "page", "score")
)


IDM = (
    Command("recover --idm", "recover S/model ROOM RECOVER --idm idm"),
    Command("annotate --idm", "annotate S/clip.mkv --idm idm --force --out out.h5", writes="out.h5"),
    Command("idm-score", "idm-score idm ROOM"),
)
LATENT_IDM = (
    Command("recover --idm", "recover S/model ROOM RECOVER --idm latent-idm", 3),
    Command("idm-score", "idm-score latent-idm ROOM"),
)
