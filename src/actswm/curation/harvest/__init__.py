"""Public video into clean, mute clips (Appendix G, Algorithm 2): discover, download, normalise, cut, filter, export."""
