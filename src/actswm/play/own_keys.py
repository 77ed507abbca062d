"""The keys of a game: ours have their layout, another's says its own, and what it does not say is given a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import UserError
from ..formats.keymap import DEFAULT_KEYS, KeyMap, Pair
from ..game import Game

USUAL = {
    **dict.fromkeys(("forward", "up"), ("W", "Up")),
    **dict.fromkeys(("back", "backward", "down"), ("S", "Down")),
    "left": ("A", "Left"),
    "right": ("D", "Right"),
    **dict.fromkeys(("jump", "fire", "toggle", "use"), ("Space",)),
}
"""What a control of this name is usually pressed with."""
PAIRS: tuple[Pair, ...] = ((("A", "Left"), ("D", "Right")), (("S", "Down"), ("W", "Up")))
"""For the first continuous controls: less and more."""
OTHERS = ("Space", *"JKLUIOHNMQERTFGZXVBYP1234567890WASD", "Enter")
"""For everything else, in this order."""


def key_map_of(game: Game) -> KeyMap:
    """Continuous controls are moved by two keys each, as far as the game's `spread` in a raw step."""
    vocabulary = game.vocabulary
    if vocabulary.name in DEFAULT_KEYS:
        return DEFAULT_KEYS[vocabulary.name]
    told = dict(_told(game))
    motion = KeyMap(vocabulary, {}).motion
    for name in told:
        vocabulary.index(name)
    used = {key for keys in told.values() for key in _flat(keys)}
    free = (key for key in OTHERS if key not in used)
    bindings: dict[str, tuple[str, ...]] = {}
    pairs: dict[str, Pair] = {}
    usual_pairs = iter(PAIRS)
    # those with a usual key take it before others are given the rest
    for index in sorted(range(vocabulary.size), key=lambda i: vocabulary.names[i].lower() not in USUAL):
        control = vocabulary.controls[index]
        if index in motion:
            continue
        if control.binary:
            keys = told.get(control.name) or _if_free(USUAL.get(control.name.lower(), ()), used) or _next(free, used)
            if not all(isinstance(key, str) for key in keys):
                raise UserError(f"{game.name}: `keys` of the button {control.name!r} are names, not {keys!r}")
            bindings[control.name] = tuple(keys)
            used.update(bindings[control.name])
        else:
            pair = told.get(control.name) or next(usual_pairs, None)
            if pair is None or (control.name not in told and used & set(_flat(pair))):
                pair = (_next(free, used), _next(free, used))
            if len(pair) != 2 or not all(isinstance(side, tuple | list) for side in pair):
                raise UserError(f"{game.name}: `keys` of {control.name!r} are two lists, for less and for more")
            pairs[control.name] = (tuple(pair[0]), tuple(pair[1]))
            used.update(_flat(pair))
    return KeyMap(vocabulary, bindings, pairs=pairs, moved=_moved(game))


def _told(game: Game) -> Mapping[str, Any]:
    keys = getattr(game, "keys", {})
    if not isinstance(keys, Mapping) or not all(isinstance(each, tuple | list) for each in keys.values()):
        raise UserError(f"{game.name}: `keys` maps controls to lists of keys, not {keys!r}")
    return keys


def _moved(game: Game) -> dict[str, float]:
    spread = getattr(game, "spread", None)
    return {} if spread is None else {name: float(each) for name, each in zip(game.vocabulary.names, spread)}


def _flat(keys: Any) -> list[str]:
    return [key for each in keys for key in ([each] if isinstance(each, str) else each)]


def _if_free(keys: tuple[str, ...], used: set[str]) -> tuple[str, ...]:
    return () if used & set(keys) else keys


def _next(free: Iterator[str], used: set[str]) -> tuple[str, ...]:
    """The next key that nobody has; none where there are more controls than keys."""
    key = next((each for each in free if each not in used), None)
    return () if key is None else (key,)
