"""Replays into clips with true controls (Appendix G, Algorithm 3): windows, capture, alignment, export."""
