"""The kinds of input, how each is mutated, and every command that reads it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .command_lines import OWN, mutate_options, mutate_overrides
from .dataset_files import mutate_dataset
from .harvests import mutate_harvest
from .raw_bytes import mutate_bytes, not_a_file
from .recordings import mutate_minestudio, mutate_owamcap, mutate_video, mutate_vpt
from .sound import PLAN, RECORD, SEARCH, TRAIN, WINDOWS
from .tables import mutate_csv
from .trees import mutate_json, mutate_yaml
from .weights_folders import mutate_checkpoint, mutate_weights

Rng = np.random.Generator
Mutate = Callable[[Path, Rng], str]
SHORT = {
    "WINDOWS": WINDOWS, "SEARCH": SEARCH, "TRAIN": TRAIN, "PLAN": PLAN, "RECORD": RECORD,
    "RECOVER": f"--windows 2 --steps 2 --split all --validity endpoints {SEARCH}",
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


@dataclass(frozen=True)
class Kind:
    """`files` are copied from the sound inputs, `mutate` changes one of them in place."""

    name: str
    share: float
    files: tuple[str, ...]
    mutate: Mutate
    commands: tuple[Command, ...]
    dataset: str = ""
    """The mutated dataset file on which `inspect` has the say."""


def one_of(*changes: tuple[str, Mutate]) -> Mutate:
    def mutate(folder: Path, rng: Rng) -> str:
        name, change = changes[int(rng.integers(len(changes)))]
        return change(folder / name, rng)

    return mutate


def mostly_bytes(path: Path, rng: Rng) -> str:
    return not_a_file(path, rng) if rng.random() < 0.1 else mutate_bytes(path, rng)


DATASET = (
    Command("merge", "merge room.h5 S/room.h5 --out merged.h5", writes="merged.h5"),
    Command("train", "train TRAIN --data room.h5 --out run training.steps=1", 0.8),
    Command("idm", "idm --data room.h5 --out idm --steps 1 --batch 4 --size 32"),
    Command("drift", "drift S/model --data room.h5 WINDOWS --controls --bound"),
    Command("fidelity", "fidelity S/model --data room.h5 WINDOWS --workers 1 --truths t.npz", 0.4),
    Command("sheet", "sheet S/model --data room.h5 WINDOWS RENDER --truths t.npz", 0.4),
    Command("recover", "recover S/model --data room.h5 RECOVER"),
    Command("annotate", "annotate S/model S/clip.mkv --actions room.h5 --out out.h5 SEARCH", writes="out.h5"),
    Command("inspect", "inspect room.h5 --sheet sheet.png", 0.5),
    Command("record", "record RECORD --steps 500 --out room.h5", 0.5, writes="room.h5"),
    Command("play", "play freedoom/room --model S/model --data room.h5 --gallery 20", 0.3),
    Command("play", "play freedoom/room --save room.h5 --size 32", 0.2, writes="room.h5"),
)
WEIGHTS = (
    Command("drift", "drift model ROOM WINDOWS"),
    Command("fidelity", "fidelity model ROOM WINDOWS --workers 1 --truths t.npz", 0.3),
    Command("sheet", "sheet model ROOM WINDOWS RENDER --truths S/truths.npz", 0.5),
    Command("recover", "recover model ROOM RECOVER"),
    Command("annotate", "annotate model S/clip.mkv --out out.h5 SEARCH", writes="out.h5"),
    Command("export", "export model --out shared"),
    Command("plan", "plan model PLAN --reference S/reference.npz --out plans", 0.5),
    Command("train", "train TRAIN ROOM --out new training.steps=1 training.start_from=model", 0.5),
    Command("report", "report model --out report.html"),
    Command(
        "bench precision",
        "bench precision model S/reference.npz --library S/library.yaml --moments 1",
        0.3,
    ),
    Command("play", "play freedoom/room --model model ROOM --gallery 20", 0.2),
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
RESULT_FILES = tuple(
    (f"results/{name}.json", mutate_json)
    for name in ("drift", "fidelity", "recover", "plan/results", "plan/a/episode-00")
)
KINDS = (
    Kind("dataset", 8, ("room.h5",), one_of(("room.h5", mutate_dataset)), DATASET, "room.h5"),
    Kind("weights", 5, ("model",), one_of(("model", mutate_weights)), WEIGHTS),
    Kind(
        "idm weights",
        1,
        ("idm",),
        one_of(("idm", mutate_weights)),
        (Command("recover", "recover S/model ROOM RECOVER --idm idm"),),
    ),
    Kind(
        "run",
        4,
        ("run",),
        one_of(
            ("run/config.yaml", mutate_yaml),
            ("run/last.ckpt", mutate_checkpoint),
            ("run/last.ckpt", mutate_checkpoint),
            ("run/logs/metrics.csv", mutate_csv),
            ("run/model", mutate_weights),
        ),
        RUN,
    ),
    Kind("results", 4, ("results",), one_of(*RESULT_FILES, ("results/sheet.png", mutate_bytes)), RESULTS),
    Kind(
        "expected figures",
        1,
        ("drift.json",),
        one_of(("drift.json", mutate_json)),
        (Command("drift --expect", "drift S/model ROOM WINDOWS --expect drift.json"),),
    ),
    Kind("owamcap", 4, ("recording",), one_of(("recording/run.mcap", mutate_owamcap)), OWAMCAP),
    Kind(
        "vpt",
        2,
        ("vpt",),
        one_of(("vpt/clip.jsonl", mutate_vpt)),
        (Command("import vpt", "import vpt vpt --size 32 --out out.h5", writes="out.h5"),),
    ),
    Kind(
        "minestudio",
        3,
        ("studio",),
        one_of(("studio", mutate_minestudio)),
        (Command("import minestudio", "import minestudio studio --size 32 --out out.h5", writes="out.h5"),),
    ),
    Kind("video", 2, ("clip.mkv",), one_of(("clip.mkv", mutate_video)), VIDEO),
    Kind(
        "cleaned file",
        1,
        ("cleaned.h5", "cleaned.h5.manifest.json"),
        one_of(("cleaned.h5", mostly_bytes), ("cleaned.h5.manifest.json", mutate_json)),
        (Command("clean", "clean S/recording S/recording2 CLEAN --out cleaned.h5", writes="cleaned.h5"),),
        "cleaned.h5",
    ),
    Kind(
        "annotated file",
        1,
        ("annotated.h5",),
        one_of(("annotated.h5", mostly_bytes)),
        (Command("annotate", "annotate S/model S/clip2.mkv --out annotated.h5 SEARCH"),),
        "annotated.h5",
    ),
    Kind(
        "plan folder",
        1,
        ("plans",),
        one_of(
            ("plans/references/00-32px.npz", mostly_bytes),
            ("plans/sound/episode-00.json", mutate_json),
            ("plans/results.json", mutate_json),
        ),
        (
            Command("plan", "plan S/model PLAN --out plans"),
            Command("report", "report plans --out report.html"),
        ),
    ),
    Kind(
        "reference",
        1,
        ("reference.npz",),
        one_of(("reference.npz", mostly_bytes)),
        (
            Command("plan --reference", "plan S/model PLAN --out plans --reference reference.npz"),
            Command(
                "bench precision",
                "bench precision S/model reference.npz --library S/library.yaml --moments 1",
            ),
        ),
    ),
    Kind(
        "library",
        1,
        ("library.yaml",),
        one_of(("library.yaml", mutate_yaml)),
        (
            Command(
                "plan --library",
                "plan S/model PLAN --out plans --reference S/reference.npz --library library.yaml",
            ),
        ),
    ),
    Kind(
        "key map",
        1,
        ("keys.json",),
        one_of(("keys.json", mutate_json)),
        (
            Command(
                "clean --key-map",
                "clean S/recording CLEAN --out out.h5 --key-map keys.json",
                writes="out.h5",
            ),
        ),
    ),
    Kind(
        "true futures",
        1,
        ("truths.npz",),
        one_of(("truths.npz", mostly_bytes)),
        (Command("sheet --truths", "sheet S/model ROOM WINDOWS RENDER --truths truths.npz"),),
    ),
    Kind(
        "overrides",
        3,
        (),
        mutate_overrides,
        (Command("train", "train TRAIN ROOM --out run training.steps=1"),),
    ),
    Kind("options", 3, OWN, mutate_options, OPTIONS),
    Kind(
        "demos",
        1,
        ("demos",),
        one_of(("demos/run.json", mutate_json), ("demos/episode-00000.lmp", mostly_bytes)),
        REPLAYS,
    ),
    Kind("harvest", 2, ("harvested",), one_of(("harvested", mutate_harvest)), HARVESTS),
    Kind(
        "harvest settings",
        1,
        ("domain.yaml",),
        one_of(("domain.yaml", mutate_yaml)),
        (Command("harvest", "harvest --domain domain.yaml --local S/clip.mkv --out clips"),),
    ),
    Kind(
        "harvest video",
        1,
        ("clip.mkv",),
        one_of(("clip.mkv", mutate_video)),
        (Command("harvest", "harvest --domain S/domain.yaml --local clip.mkv --local S/clip2.mkv --out clips"),),
    ),
)
KIND = {kind.name: kind for kind in KINDS}
