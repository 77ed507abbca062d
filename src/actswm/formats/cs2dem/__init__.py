"""Counter-Strike 2 demos (`.dem`, `.dem.zst`)."""

from .reader import read_cs2_demo

__all__ = ["read_cs2_demo"]
