"""Mutations of games that other people bring: a game of one file, a Gymnasium environment, and the task around them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .raw_bytes import cut, empty, foreign, not_a_file
from .running import ROOT
from .trees import mutate_yaml

Rng = np.random.Generator
YARD = '''
"""The rover as a Gymnasium environment."""

import gymnasium
import numpy as np
from rover.rover import Rover


class Yard(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}
    action_space = gymnasium.spaces.Discrete(4)
    observation_space = gymnasium.spaces.Box(0, 255, (32, 32, 3), np.uint8)
    moves = ((0, 0, 0), (1, 0, 0), (1, 0, -5), (1, 0, 5))

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.rover = Rover((32, 32))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        frame, info = self.rover.reset(seed=seed)
        return frame, info["telemetry"]

    def step(self, action):
        frame, reward, terminated, truncated, info = self.rover.step(self.moves[action])
        return frame, reward, terminated, truncated, info["telemetry"]

    def render(self):
        return self.rover.frame()


gymnasium.register("Yard-v0", Yard)
'''
HEAD = """
from math import inf, nan
import gymnasium
import numpy as np
from actswm import Control, Vocabulary
"""
ODD = (
    "None", "True", "0", "-1", "2**70", "nan", "inf", "''", "'x'", "b'x'", "'\\x1b[31m[bold]'", "[]", "[None]", "{}",
    "{'x': None}", "{3: 4}", "()", "(1, 2)", "object()", "np.zeros(0)", "np.zeros(3)", "np.full(3, nan)",
    "np.zeros((32, 32, 3))",
    "np.zeros((32, 32, 3), np.uint8)", "np.zeros((32, 32), np.uint8)", "np.zeros((4, 4, 3), np.uint8)",
    "np.zeros((32, 32, 4), np.uint8)", "np.array('x')", "np.array([None])", "lambda *a, **k: None",
    "Vocabulary('rover', ())", "Vocabulary('keys14', (Control('x'),))", "Vocabulary('v', (Control('x'), Control('x')))",
    "Vocabulary('a,b', (Control('(~'),))", "gymnasium.spaces.Discrete(1)", "gymnasium.spaces.Text(3)",
    "gymnasium.spaces.Box(-inf, inf, (2,))", "gymnasium.spaces.Box(0, 1, (0,))", "gymnasium.spaces.Dict({})",
    "gymnasium.spaces.MultiDiscrete([2, 0])", "gymnasium.spaces.MultiBinary(3)", "gymnasium.spaces.Discrete(10**9)",
    "(np.zeros((32, 32, 3), np.uint8), None)", "(np.zeros((32, 32, 3), np.uint8), {'events': None})",
    "(np.zeros((32, 32, 3), np.uint8), {'telemetry': {'x': 'far', 'y': nan}})",
    "(np.zeros((32, 32, 3), np.uint8), 'much', 0, 0, {})", "(np.zeros((32, 32, 3), np.uint8), nan, None, [], {})",
    "(np.zeros((32, 32, 3), np.uint8), 0, False, False, {'events': [{'name': 3}]})",
    "(np.zeros((32, 32, 3), np.uint8), 0, True, False, {'telemetry': {'x': 1e400}, 'events': [{}]})",
    "(np.zeros((32, 32, 3), np.uint8), 0, True, True, {})",
)  # fmt: skip
RAISED = (
    "ValueError('own \\x1b[31mfault')", "TypeError('argument')", "KeyError(3)", "AssertionError()", "MemoryError()",
    "RecursionError('deep')", "SystemExit(0)", "SystemExit('gone')", "UnicodeDecodeError('utf-8', b'', 0, 1, 'x')",
    "OSError(28, 'No space left on device')", "StopIteration()", "EOFError()", "ConnectionError()",
    "Exception('a\\nb')",
)  # fmt: skip
ROVER = (
    ("Rover", ("vocabulary", "fps", "spread", "keys", "deterministic", "effective")),
    ("Rover", ("__init__", "reset", "step", "frame", "info", "close", "fast_forward", "random_action")),
    ("Expert", ("__init__", "act")),
)
GYMNASIUM = (
    ("Yard", ("action_space", "observation_space", "metadata", "render_mode", "moves", "unwrapped")),
    ("Yard", ("__init__", "reset", "step", "render", "close", "get_action_meanings")),
)
Members = tuple[tuple[str, tuple[str, ...]], ...]


def make_own_games(folder: Path) -> None:
    """The example of the documentation, made short, and the same as an environment of Gymnasium."""
    shutil.copytree(ROOT / "examples" / "rover", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "yard.py").write_text(YARD)
    task = folder / "beacon.yaml"
    short = {"budget: 22": "budget: 2", "count: 20": "count: 1", "{event: beacon}": "{telemetry: {x: [-99, 99]}}"}
    text = task.read_text()
    for long, replaced in short.items():
        assert long in text
        text = text.replace(long, replaced)
    task.write_text(text)


def mutate_rover(folder: Path, rng: Rng) -> str:
    return _mutate_code(folder / "rover.py", ROVER, rng)


def mutate_environment(folder: Path, rng: Rng) -> str:
    return _mutate_code(folder / "yard.py", GYMNASIUM, rng)


def mutate_task(folder: Path, rng: Rng) -> str:
    return mutate_yaml(folder / ("beacon.yaml" if rng.random() < 0.7 else "chunks.yaml"), rng)


def _mutate_code(path: Path, members: Members, rng: Rng) -> str:
    """Something that it has is odd, or what it does is, at once or after some calls. No bits are flipped: it is run."""
    way = rng.random()
    if way < 0.05:
        return not_a_file(path, rng)
    if way < 0.12:
        change: Callable[[bytes, Rng], bytes] = (cut, empty, foreign)[int(rng.integers(3))]
        path.write_bytes(change(path.read_bytes(), rng))
        return f"{change.__name__} {path.name}"
    of, names = members[int(rng.integers(len(members)))]
    name = f"{of}.{names[int(rng.integers(len(names)))]}"
    value = ODD[int(rng.integers(len(ODD)))]
    does = f"return {value}" if rng.random() < 0.6 else f"raise {RAISED[int(rng.integers(len(RAISED)))]}"
    late = int(rng.integers(1, 40)) if rng.random() < 0.4 else 0
    if way < 0.35:
        code = f"{name} = {value}"
    elif way < 0.45:
        code = f"{name} = property(wrong)"
    else:
        code = f"{name} = wrong"
    body = f"def wrong(*a, **k):\n    if next(calls, None) is not None:\n        return old(*a, **k)\n    {does}\n"
    before = f"calls, old = iter(range({late})), getattr({of}, {name.rpartition('.')[2]!r}, lambda *a, **k: None)\n"
    text = path.read_text()
    at = text.find("gymnasium.register(") if "gymnasium.register(" in text else len(text)
    path.write_text(f"{text[:at]}{HEAD}{before}{body}{code}\n{text[at:]}")
    return f"{code} ({does} after {late} calls)" if "wrong" in code else code
