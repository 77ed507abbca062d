"""Stock game engines in lockstep: a preloaded shim stops them after every frame and hands the frame over."""

from .engine import Engine

__all__ = ["Engine"]
