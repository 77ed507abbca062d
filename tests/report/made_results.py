"""Result files as the commands write them, with made figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def estimate(mean: float | None) -> dict[str, float | None]:
    return {
        "mean": mean,
        "low": None if mean is None else mean - 0.02,
        "high": None if mean is None else mean + 0.02,
    }


def drift(gaps: dict[str, float], command: str = "actswm drift a b", data: str = "room.h5") -> dict[str, Any]:
    def step(number: int, gap: float) -> dict[str, Any]:
        levels = {"recorded": 0.9, "zero": 0.9 - gap, "shuffled": 0.9 - gap, "copy": 0.3, "random": 0.0}
        levels |= {"zero_gap": gap, "shuffled_gap": gap}
        return {"step": number, **{name: estimate(level) for name, level in levels.items()}}

    models = [{"name": name, "steps": [step(k, gap) for k in (1, 2, 3)]} for name, gap in gaps.items()]
    about = {"kind": "drift", "command": command, "commit": "0123456789ab", "seed": 7}
    return {**about, "data": data, "windows": 12, "models": models}


def fidelity(*names: str, first: float = 0.8, last: float = 0.8) -> dict[str, Any]:
    """F is `first` at step 1 and `last` at step 2."""

    def row(kind: str, step: int) -> dict[str, Any]:
        recorded = kind == "recorded"
        figures = {
            "fidelity": estimate(None if recorded else first if step == 1 else last),
            "skill": estimate(0.5),
            "top1": estimate(0.6),
        }
        return {"kind": kind, "step": step, "cases": 9, **figures, "chance": 0.125}

    steps = [row(kind, step) for kind in ("all", "recorded", "zero") for step in (1, 2)]
    about = {"kind": "fidelity", "command": "actswm fidelity a", "commit": "", "seed": 8}
    return {
        **about,
        "data": "room.h5",
        "windows": 9,
        "models": [{"name": name, "steps": steps} for name in names],
    }


def plan(**successes: int) -> dict[str, Any]:
    methods = [
        {
            "method": name,
            "episodes": 4,
            "successes": won,
            "low": 0.1,
            "high": 0.9,
            "lost": 0,
            "chunks_to_success": 5.0 if won else None,
            "plan_cpu_seconds": 0.0 if name == "random" else 0.5,
        }
        for name, won in successes.items()
    ]
    about = {"kind": "plan", "command": "actswm plan a", "commit": "0123456789ab+", "seed": 0}
    return {**about, "task": "freedoom/follow-room", "methods": methods}


def recover(command: str = "actswm recover a") -> dict[str, Any]:
    figures = ("precision", "recall", "f1", "balanced_accuracy")
    controls = [{"name": "W", "pressed_share": 0.5, **{figure: estimate(0.7) for figure in figures}}]
    scores = {name: estimate(0.7) for name in ("key_accuracy", "active_accuracy", "balanced_accuracy", "f1")}
    scores = {**scores, "controls": controls, "camera_error": {}}
    roll = {
        "window": 0,
        "recorded": {"W": "0110", "A": "0000"},
        "recovered": {"a": {"W": "0011", "A": "0000"}},
    }
    return {
        "kind": "recover",
        "command": command,
        "commit": "0123456789ab",
        "data": "room.h5",
        "window_rows": [1, 2],
        "options": {"seed": 42, "target": "far", "guide": "human-guide"},
        "costs": {"a": {"relative_gap": estimate(0.3), "verdict": None}},
        "scores": {"a": scores, "always-off": scores},
        "roll": roll,
    }


def write(path: Path, tree: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(tree))
    return path


def write_film(folder: Path, method: str, episode: int, succeeded: bool, planner: bool = True) -> Path:
    identity = {"weights": "x"} if planner else {}
    counts = {"episode": episode, "succeeded": succeeded, "chunks": 5, "raw_steps": 20, "attempts": 1}
    about = {"method": method, "task": "freedoom/follow-room", **counts, "choices": ["wait"], "costs": [None]}
    about |= {"plan_cpu_seconds": 0.5, "identity": identity}
    write(folder / method / f"episode-{episode:02}.json", about)
    film = folder / method / f"episode-{episode:02}.mp4"
    film.write_bytes(f"film of {method} {episode}".encode())
    return film
