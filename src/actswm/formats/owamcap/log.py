"""The MCAP file under an OWAMcap recording: header, channels, JSON messages."""

from __future__ import annotations

from typing import IO, Any

import orjson
from mcap.writer import Writer

from ..keymap import KeyMap
from . import messages


class MessageLog:
    """Writes messages of the known topics to an open file; `finish` completes the MCAP structure."""

    def __init__(self, file: IO[bytes], key_map: KeyMap | None = None) -> None:
        self._writer = Writer(file)
        self._writer.start(profile=messages.PROFILE, library=messages.library())
        if key_map:
            text = orjson.dumps(key_map.to_json()).decode()
            self._writer.add_metadata(messages.METADATA, {"key_map": text})
        self._channels = {
            topic: self._writer.register_channel(
                topic, "json", self._writer.register_schema(name, "jsonschema", schema)
            )
            for topic, (name, schema) in messages.SCHEMAS.items()
        }

    def write(self, topic: str, time_ns: int, message: dict[str, Any] | bytes) -> None:
        """Log a message; bytes are taken as they are."""
        data = message if isinstance(message, bytes) else orjson.dumps(message)
        self._writer.add_message(self._channels[topic], time_ns, data, time_ns)

    def finish(self) -> None:
        self._writer.finish()
