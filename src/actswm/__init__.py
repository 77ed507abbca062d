"""ActSWM: action-sensitive latent world models for games."""

__version__ = "0.1.0"
