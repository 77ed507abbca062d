"""Demos of Quake III engines, OpenArena's among them."""

from .reader import KEYS_NAME, read_quake_demo

__all__ = ["KEYS_NAME", "read_quake_demo"]
