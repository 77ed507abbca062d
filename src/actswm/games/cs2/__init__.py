"""Counter-Strike 2 as a replay engine: HLAE on a Windows machine, driven by a kit that is carried there and back."""
