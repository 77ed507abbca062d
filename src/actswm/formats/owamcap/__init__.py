"""OWAMcap: the recording format of open-world-agents' `ocap` (MCAP input streams beside a Matroska video)."""

from .clock import ClockOffset
from .recording import InputLog, Kind, Recording, read_recording
from .timeline import FrameSpans, actions_of_frames, motion_of_frames
from .writer import OwamcapWriter

__all__ = [
    "ClockOffset",
    "FrameSpans",
    "InputLog",
    "Kind",
    "OwamcapWriter",
    "Recording",
    "actions_of_frames",
    "motion_of_frames",
    "read_recording",
]
