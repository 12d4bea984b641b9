"""Records that agents make and anyone can re-check."""

__version__ = "0.1.0"
