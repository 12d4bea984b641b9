"""The command line: `refold`. Commands parse arguments and print; the work is in the library."""

from refold.cli.main import main

__all__ = ["main"]
