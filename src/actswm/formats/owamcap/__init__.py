"""OWAMcap: the recording format of open-world-agents' `ocap` (MCAP input streams beside a Matroska video)."""

from .writer import OwamcapWriter

__all__ = ["OwamcapWriter"]
