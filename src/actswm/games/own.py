"""Games that other people bring: by import path (`my_module:MyGame`, `path/to/file.py:MyGame`), by an entry point of
the group `actswm.games`, or by a Gymnasium id (`gym:CartPole-v1`).

What is named is called with `size=(height, width)` and the game's options, and has to give a `Game`. What it does is
checked at every step: a recording of frames that are none would be noticed only after training.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..controls import Vocabulary, vocabulary_of
from ..errors import UserError
from ..game import Frame, Game, Step
from .guard import EngineDied

GROUP = "actswm.games"
GYM = "gym:"


def names_code(name: str) -> bool:
    """Does opening the game import a module that the name itself chooses?"""
    return ":" in name.removeprefix(GYM)


def is_own(name: str) -> bool:
    """Is it another's game, by the form of its name or by an entry point?"""
    return ":" in name or name in own_names()


def own_names() -> tuple[str, ...]:
    """The games of installed packages, by their entry points."""
    return tuple(sorted({point.name for point in _entry_points()}))


def open_own(name: str, seed: int | None, size: tuple[int, int], options: Mapping[str, Any]) -> CheckedGame:
    """The game called `name`, checked; `controls` among its options restricts the controls of any game."""
    arguments = dict(options)
    controls = arguments.pop("controls", None)
    if seed is not None:
        arguments["seed"] = seed
    if name.startswith(GYM):
        from .gym import GymGame

        _look_in(os.getcwd())  # for `gym:my_module:MyEnv-v0`
        with others_code(name):
            made: Any = GymGame(name.removeprefix(GYM), size=size, **arguments)
    else:
        make = _found(name)
        if not callable(make):
            raise UserError(f"{name}: is {type(make).__name__}, which makes no game; name its class or a function")
        if isinstance(make, type) and not all(callable(getattr(make, method, None)) for method in ("reset", "step")):
            raise UserError(f"{name}: is no game: it has no reset and step (see docs/api.md)")
        with others_code(name):
            try:
                made = make(size=size, **arguments)
            except TypeError as error:
                if "argument" not in str(error):
                    raise
                given = ", ".join(["size", *arguments])
                raise UserError(f"{name}: cannot be made with {given} ({error})") from None
    with others_code(name):  # its attributes may be properties
        return CheckedGame(made, name, size, controls)


@contextmanager
def others_code(name: str) -> Iterator[None]:
    """What goes wrong in code that is not ours is told with its place, and is no bug of ours."""
    try:
        yield
    except (UserError, EngineDied):
        raise
    except (Exception, SystemExit) as error:
        place: Any = error if isinstance(error, SyntaxError) else traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UserError(f"{name}: fails in {place.filename}, line {place.lineno} ({what})") from error


def load_object(name: str) -> Any:
    """What an import path `module:attribute` or `file.py:attribute` names; the current folder counts as installed."""
    module_name, _, attribute = name.rpartition(":")
    with others_code(name):
        module = _module(module_name, name)
    for part in attribute.split("."):
        if not hasattr(module, part):
            known = ", ".join(each for each in vars(module) if not each.startswith("_"))[:200]
            raise UserError(f"{name}: {module_name} has no {attribute!r}; it has: {known}")
        module = getattr(module, part)
    return module


def _found(name: str) -> Any:
    for point in _entry_points():
        if point.name == name:
            try:
                return point.load()
            except (ImportError, AttributeError) as error:
                raise UserError(f"{name}: its entry point {point.value!r} cannot be loaded ({error})") from None
    return load_object(name)


def _entry_points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _module(module: str, name: str) -> ModuleType:
    if module.endswith(".py"):
        return _file_module(Path(module), name)
    _look_in(os.getcwd())  # a console script, unlike `python -m`, does not
    try:
        return importlib.import_module(module)
    except (ModuleNotFoundError, ValueError) as error:
        missing = getattr(error, "name", None)
        if isinstance(error, ModuleNotFoundError) and missing and not f"{module}.".startswith(f"{missing}."):
            raise UserError(f"{name}: needs the package {missing!r}, which is not installed") from None
        raise UserError(f"{name}: there is no module {module!r}, neither here nor installed") from None


def _look_in(folder: str) -> None:
    """For good: a module may import its neighbours later."""
    if folder not in sys.path:
        sys.path.append(folder)


def _file_module(path: Path, name: str) -> ModuleType:
    if not path.is_file():
        raise UserError(f"{name}: there is no file {path}")
    known = f"actswm_own_{path.stem}_{abs(hash(path.resolve())):x}"
    if known in sys.modules:
        return sys.modules[known]
    spec = importlib.util.spec_from_file_location(known, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{name}: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    _look_in(str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        del sys.modules[known]
        raise UserError(f"{name}: needs the package {error.name!r}, which is not installed") from None
    except BaseException:
        del sys.modules[known]
        raise
    return module


class CheckedGame:
    """Another's game, held to the protocol; what it leaves out has defaults.

    The game's `name` is the one that it was found by, so that a recording's states can be reached again.
    """

    def __init__(self, game: Any, name: str, size: tuple[int, int], controls: list[str] | None = None) -> None:
        self.game, self.name, self.size = game, name, size
        self.vocabulary = _vocabulary(game, name)
        self.fps = _rate(game, name)
        self.deterministic = bool(getattr(game, "deterministic", False))
        self.effective = np.asarray(getattr(game, "effective", np.ones(self.vocabulary.size, bool)), bool).copy()
        if self.effective.shape != (self.vocabulary.size,):
            raise UserError(f"{name}: `effective` has the shape {self.effective.shape}, not a flag for each control")
        if controls is not None:
            chosen = [self.vocabulary.index(each) for each in controls]
            self.effective &= np.isin(np.arange(self.vocabulary.size), chosen)
        if hasattr(game, "keys"):
            self.keys = game.keys
        if hasattr(game, "random_action"):
            self.random_action = self._random_action
        if hasattr(game, "fast_forward") and self.effective.all():
            self.fast_forward = self._fast_forward
        self.spread = _spread(game, self.vocabulary, name)
        self.render_mode: str | None = None
        self._last: Frame | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        given = {"options": options} if options is not None else {}
        with others_code(self.name):
            frame, info = self._answer(self.game.reset(seed=seed, **given), 2, "reset")
            info = self._info(info)
        info.setdefault("seed", seed)
        return self._frame(frame), info

    def step(self, action: NDArray[np.floating]) -> Step:
        taken = self._taken(action)
        with others_code(self.name):
            return self._step(self.game.step(taken * self.effective))

    def _taken(self, action: Any) -> NDArray[np.float32]:
        taken = np.asarray(action, np.float32)
        if taken.shape != (self.vocabulary.size,) or not np.isfinite(taken).all():
            raise UserError(f"{self.name}: an action is {self.vocabulary.size} finite numbers, not {action!r}")
        return taken

    def _random_action(self, rng: np.random.Generator) -> NDArray[np.float32]:
        with others_code(self.name):
            return self._taken(self.game.random_action(rng))

    def _fast_forward(self, actions: NDArray[np.floating]) -> Step:
        with others_code(self.name):
            return self._step(self.game.fast_forward(np.asarray(actions, np.float32)))

    def render(self) -> Frame | None:
        return self._last

    def close(self) -> None:
        with others_code(self.name):
            if hasattr(self.game, "close"):
                self.game.close()

    def _step(self, answer: Any) -> Step:
        frame, reward, terminated, truncated, info = self._answer(answer, 5, "step")
        return self._frame(frame), float(reward), bool(terminated), bool(truncated), self._info(info)

    def _answer(self, answer: Any, count: int, what: str) -> tuple[Any, ...]:
        if not isinstance(answer, tuple) or len(answer) != count:
            wanted = "(frame, info)" if count == 2 else "(frame, reward, terminated, truncated, info)"
            raise UserError(f"{self.name}: {what} gives {wanted}, not {type(answer).__name__} {str(answer)[:60]}")
        return answer

    def _frame(self, frame: Any) -> Frame:
        shape = (*self.size, 3)
        if not isinstance(frame, np.ndarray) or frame.shape != shape or frame.dtype != np.uint8:
            found = f"{frame.dtype} {frame.shape}" if isinstance(frame, np.ndarray) else type(frame).__name__
            raise UserError(f"{self.name}: a frame is uint8 {shape}, as `size` says, not {found}")
        self._last = frame.copy()  # a game may draw the next one into the same memory
        return self._last

    def _info(self, info: Any) -> dict[str, Any]:
        if not isinstance(info, Mapping):
            raise UserError(f"{self.name}: info is a dict, not {type(info).__name__}")
        told = {"events": [], "telemetry": {}, **info}
        for event in told["events"]:
            if not isinstance(event, Mapping) or not isinstance(event.get("name"), str):
                raise UserError(f"{self.name}: an event is a dict with a name, not {event!r}")
        try:
            told["telemetry"] = {str(key): float(value) for key, value in told["telemetry"].items()}
        except (AttributeError, TypeError, ValueError):
            raise UserError(f"{self.name}: telemetry is a flat dict of numbers, not {told['telemetry']!r}") from None
        return told


def _vocabulary(game: Game, name: str) -> Vocabulary:
    vocabulary = getattr(game, "vocabulary", None)
    if not isinstance(vocabulary, Vocabulary) or not vocabulary.size:
        raise UserError(f"{name}: needs `vocabulary`, an actswm.Vocabulary with its controls (see docs/api.md)")
    try:
        known = vocabulary_of(vocabulary.spelling) == vocabulary
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    if not known:
        raise UserError(f"{name}: its vocabulary is called {vocabulary.name!r}, which is another's; rename it")
    return vocabulary


def _rate(game: Game, name: str) -> float:
    fps = getattr(game, "fps", None)
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps < 10_000:
        raise UserError(f"{name}: needs `fps`, its raw steps a second, not {fps!r}")
    return float(fps)


def _spread(game: Game, vocabulary: Vocabulary, name: str) -> NDArray[np.float32]:
    """(A,) how far a player moves each continuous control in a raw step; 1 where the game does not say."""
    told = getattr(game, "spread", {})
    if not isinstance(told, Mapping) or not all(np.isfinite(value) and value > 0 for value in told.values()):
        raise UserError(f"{name}: `spread` maps continuous controls to their usual size, not {told!r}")
    spread = np.ones(vocabulary.size, np.float32)
    for control, value in told.items():
        spread[vocabulary.index(control)] = value
    return spread
