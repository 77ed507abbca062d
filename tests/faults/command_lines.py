"""Mutations of the command line itself: settings of `train`, and the values of any option."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

Rng = np.random.Generator
FILE = "arguments.txt"
"""Where a mutation leaves the words that it wants, one a line; the runner puts them into the command."""

KEYS = """
    training.batch training.learning_rate training.precision training.seed training.validity training.mask training.clip
    training.start_from training.log_every training.devices training.warmup training.validate_every
    training.weight_decay
    training.validation_windows training.checkpoint_minutes training.checkpoint_steps model.frameskip model.encoding
    model.vocabulary model.latent_dim model.encoder model.image_size model.predictor.heads model.predictor.context
    model.predictor.depth model.predictor.dropout model.conv.channels model.action.bottleneck objective.horizon
    objective.hinge.alternatives objective.hinge.margin objective.sigreg.knots objective.sigreg.projections
    objective.sigreg.weight training model objective x training.steps.x training. .steps training..steps model.conv
    objective.sigreg a[0] training[steps] é
""".split()
VALUES = (
    "", "x", "0", "-1", "1", "2", "0.5", "-0.5", "nan", "inf", "-inf", "1e999", "1e-40", "null", "true", "[]", "[1]",
    "[0]", "[x,y]", "[none]", "{}", "{a:", "{a: 1}", "[", "]", '"', "'", "\\", "${oc.env:HOME}", "${training.steps}",
    "${", "???", "!!python/none x", "&a", "*a", "-", ":", "#", "%", "@", "`", "|", ">", "a: b", "\t", "\n", "é",
    "\udcff", "[[[[[[", "1_0", "0x10", "1:30", "=", "a=b",
)  # fmt: skip
NAMES = ("freedoom-maze/contrast", "freedoom-room/lewm-rollout", "minetest-tasks/actswm-plus")
OWN = ("room.h5", "clip.mkv", "library.yaml")
"""Files of the case's own that a word may name: an option that writes would spoil those of all later cases."""
WORDS = (
    "", " ", "x", "0", "-1", "-0.5", "nan", "inf", "-inf", "1e999", "0.0", "é", "\udcff", "/", "/nowhere/x.h5", "..",
    ".", "./.", "room.h5/x", "clip.mkv", "library.yaml", "a" * 300, "none", "auto", "-", "--", "*", "%s",
    "[bold]",
    "\x1b[31m",
)  # fmt: skip


def mutate_overrides(folder: Path, rng: Rng) -> str:
    """One or two settings that make no sense."""
    words = []
    for _ in range(int(rng.integers(1, 3))):
        key, value = KEYS[int(rng.integers(len(KEYS)))], VALUES[int(rng.integers(len(VALUES)))]
        words.append(key if rng.random() < 0.05 else f"{key}={value}")
    (folder / FILE).write_text("\0".join(words), errors="surrogateescape")
    return " ".join(map(repr, words))


def mutate_options(folder: Path, rng: Rng) -> str:
    """One value of the command line becomes `word`; which one is told by a number."""
    word, place = WORDS[int(rng.integers(len(WORDS)))], int(rng.integers(1000))
    (folder / FILE).write_text(f"{place}\0{word}", errors="surrogateescape")
    return f"{word!r:.30} in place {place}"


def mutate_name(folder: Path, rng: Rng) -> str:
    """The name of a shipped model, misspelt or turned into a path."""
    name = NAMES[int(rng.integers(len(NAMES)))]
    at = int(rng.integers(1, len(name)))
    options = (
        name, name[:at], name[:at] + name[at + 1 :], name[:at] + "x" + name[at:], name.upper(), name.replace("/", "//"),
        f"./{name}", f"../{name}", f"{name}/", f"{name}/..", f"{name}/config.json", f"{name}/../*", f"/{name}",
        name.partition("/")[0], name.partition("/")[2], name.replace("/", ":"), f" {name}", f"{name}\n",
        f"{name}é\udcff", f"[bold]{name}[/]", f"\x1b[31m{name}", "*/*", "", ".", "/", "~", "a" * 300,
        "a/" * 3000, name * 20,
    )  # fmt: skip
    word = options[int(rng.integers(len(options)))]
    (folder / FILE).write_text(word, errors="surrogateescape")
    return f"{word!r:.40}"


def with_mutation(kind: str, arguments: Sequence[str], folder: Path) -> list[str]:
    """The arguments as the mutation of the folder wants them."""
    if kind not in ("overrides", "options", "model name"):
        return list(arguments)
    words = (folder / FILE).read_text(errors="surrogateescape").split("\0")
    if kind == "overrides":
        return [*arguments, *words]
    if kind == "model name":
        return [words[0] if argument == "NAME" else argument for argument in arguments]
    changed = list(arguments)
    places = [i for i, argument in enumerate(changed) if i > 0 and not argument.startswith("--")]
    changed[places[int(words[0]) % len(places)]] = words[1]
    return changed
