"""What an OWAMcap file holds: topics, their schemas, and the header its readers check."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import orjson

PROFILE = "owa"
SCHEMA_VERSION = "0.6.6"
"""The version of `mcap-owa-support` whose message schemas are written here; its reader parses the header."""

METADATA = "actswm"
"""Name of the MCAP metadata record in which this project's writer keeps its key map."""

_INT = {"type": "integer"}
_PAIR = {"type": "array", "prefixItems": [_INT, _INT], "minItems": 2, "maxItems": 2}
_TEXT = {"type": "string"}


def library() -> str:
    return f"mcap-owa-support {SCHEMA_VERSION}; mcap {version('mcap')}"


def _schema(title: str, properties: dict[str, Any], required: list[str]) -> bytes:
    return orjson.dumps({"type": "object", "title": title, "properties": properties, "required": required})


SCREEN, KEYBOARD, MOUSE, RAW_MOUSE = "screen", "keyboard", "mouse", "mouse/raw"
KEYBOARD_STATE, MOUSE_STATE, WINDOW, EVENT = "keyboard/state", "mouse/state", "window", "game/event"

SCHEMAS: dict[str, tuple[str, bytes]] = {
    SCREEN: (
        "desktop/ScreenCaptured",
        _schema(
            "ScreenCaptured",
            {
                "utc_ns": _INT,
                "source_shape": _PAIR,
                "shape": _PAIR,
                "media_ref": {"type": "object", "properties": {"uri": _TEXT, "pts_ns": _INT}},
            },
            ["media_ref"],
        ),
    ),
    KEYBOARD: (
        "desktop/KeyboardEvent",
        _schema(
            "KeyboardEvent", {"event_type": {"enum": ["press", "release"]}, "vk": _INT}, ["event_type", "vk"]
        ),
    ),
    MOUSE: (
        "desktop/MouseEvent",
        _schema(
            "MouseEvent",
            {
                "event_type": {"enum": ["move", "click", "scroll"]},
                "x": _INT,
                "y": _INT,
                "dx": _INT,
                "dy": _INT,
            }
            | {"button": _TEXT, "pressed": {"type": "boolean"}},
            ["event_type", "x", "y"],
        ),
    ),
    RAW_MOUSE: (
        "desktop/RawMouseEvent",
        _schema(
            "RawMouseEvent",
            {name: _INT for name in ("last_x", "last_y", "us_flags", "button_flags", "button_data")},
            ["last_x", "last_y"],
        ),
    ),
    KEYBOARD_STATE: (
        "desktop/KeyboardState",
        _schema("KeyboardState", {"buttons": {"type": "array", "items": _INT}}, ["buttons"]),
    ),
    MOUSE_STATE: (
        "desktop/MouseState",
        _schema(
            "MouseState", {"x": _INT, "y": _INT, "buttons": {"type": "array", "items": _TEXT}}, ["buttons"]
        ),
    ),
    WINDOW: (
        "desktop/WindowInfo",
        _schema(
            "WindowInfo",
            {"title": _TEXT, "rect": {"type": "array", "items": _INT}, "hWnd": _INT},
            ["title", "rect", "hWnd"],
        ),
    ),
    EVENT: ("actswm/GameEvent", _schema("GameEvent", {"name": _TEXT}, ["name"])),
}
"""Topic -> (schema name, JSON schema). `game/event` is this project's own topic, for deaths and the like."""
