"""The kinds of input: how each is mutated, and the commands that read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import commands
from .command_lines import OWN, mutate_name, mutate_options, mutate_overrides
from .commands import Command
from .dataset_files import mutate_dataset
from .harvests import mutate_harvest
from .own_games import mutate_environment, mutate_rover, mutate_task
from .raw_bytes import mutate_bytes, not_a_file
from .recordings import mutate_minestudio, mutate_owamcap, mutate_video, mutate_vpt
from .tables import mutate_csv
from .trees import mutate_json, mutate_yaml
from .weights_folders import mutate_checkpoint, mutate_decoder, mutate_weights

Rng = np.random.Generator
Mutate = Callable[[Path, Rng], str]
@dataclass(frozen=True)
class Kind:
    """`files` are copied from the sound inputs, `mutate` changes one of them in place."""

    name: str
    share: float
    files: tuple[str, ...]
    mutate: Mutate
    commands: tuple[Command, ...]
    dataset: str = ""
    """The mutated dataset on which `inspect` has the say."""


def one_of(*changes: tuple[str, Mutate]) -> Mutate:
    def mutate(folder: Path, rng: Rng) -> str:
        name, change = changes[int(rng.integers(len(changes)))]
        return change(folder / name, rng)

    return mutate


def mostly_bytes(path: Path, rng: Rng) -> str:
    return not_a_file(path, rng) if rng.random() < 0.1 else mutate_bytes(path, rng)


RECORD_FILES = tuple(
    (f"records/made/{name}.json", mutate_json) for name in ("drift", "fidelity", "plan", "recover", "idm-score")
)
RESULT_FILES = tuple(
    (f"results/{name}.json", mutate_json)
    for name in ("drift", "fidelity", "recover", "plan/results", "plan/a/episode-00")
)
KINDS = (
    Kind("dataset", 8, ("room.h5",), one_of(("room.h5", mutate_dataset)), commands.DATASET, "room.h5"),
    Kind("weights", 5, ("model",), one_of(("model", mutate_weights)), commands.WEIGHTS),
    Kind("idm weights", 1.5, ("idm",), one_of(("idm", mutate_weights)), commands.IDM),
    Kind(
        "idm on latents",
        1.5,
        ("latent-idm",),
        one_of(("latent-idm", mutate_weights)),
        commands.LATENT_IDM,
    ),
    Kind("decoder", 2, ("drawn",), one_of(("drawn", mutate_decoder)), commands.DECODER),
    Kind("model name", 1, (), mutate_name, commands.NAMES),
    Kind(
        "shards",
        3,
        ("shards",),
        one_of(
            ("shards/shards.index.json", mutate_json),
            ("shards/shards.index.json", mutate_json),
            ("shards/a.h5", mutate_dataset),
            ("shards/b.h5", mutate_dataset),
        ),
        commands.SHARDS,
        "shards",
    ),
    Kind("siblings", 2, ("siblings.h5",), one_of(("siblings.h5", mutate_dataset)), commands.SIBLINGS, "siblings.h5"),
    Kind(
        "own recording",
        1,
        ("rover.h5", "rover"),
        one_of(("rover.h5", mutate_dataset)),
        commands.OWN_RECORDING,
        "rover.h5",
    ),
    Kind("own game", 2, ("rover",), one_of(("rover", mutate_rover)), commands.OWN_GAME),
    Kind("environment", 2, ("rover",), one_of(("rover", mutate_environment)), commands.ENVIRONMENT),
    Kind("task", 2, ("rover",), one_of(("rover", mutate_task)), commands.TASKS),
    Kind(
        "records",
        3,
        ("records",),
        one_of(*RECORD_FILES, ("records/rows.json", mutate_json), ("records/page.md", mutate_bytes)),
        commands.RECORDS,
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
        commands.RUN,
    ),
    Kind("results", 4, ("results",), one_of(*RESULT_FILES, ("results/sheet.png", mutate_bytes)), commands.RESULTS),
    Kind(
        "expected figures",
        1,
        ("drift.json",),
        one_of(("drift.json", mutate_json)),
        (Command("drift --expect", "drift S/model ROOM WINDOWS --expect drift.json"),),
    ),
    Kind("owamcap", 4, ("recording",), one_of(("recording/run.mcap", mutate_owamcap)), commands.OWAMCAP),
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
    Kind("video", 2, ("clip.mkv",), one_of(("clip.mkv", mutate_video)), commands.VIDEO),
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
    Kind("options", 3, OWN, mutate_options, commands.OPTIONS),
    Kind(
        "demos",
        1,
        ("demos",),
        one_of(("demos/run.json", mutate_json), ("demos/episode-00000.lmp", mostly_bytes)),
        commands.REPLAYS,
    ),
    Kind("harvest", 2, ("harvested",), one_of(("harvested", mutate_harvest)), commands.HARVESTS),
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
