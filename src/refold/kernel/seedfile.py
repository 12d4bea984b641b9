"""The file that holds the seed of a key: 64 hex digits, for its owner's eyes only."""

import os
from pathlib import Path

from refold.kernel.errors import UsageError
from refold.kernel.keys import SEED_BYTES, generate
from refold.kernel.newfile import new_file

__all__ = ["new_seed", "read_seed"]

_OWNER_ONLY = 0o600


def new_seed(path: Path) -> bytes:
    """Make a seed, write it to a new file of mode 0600, and give it. Raises as `new_file`."""
    seed = generate()
    with new_file(path) as file:
        os.fchmod(file.fileno(), _OWNER_ONLY)
        file.write(f"{seed.hex()}\n".encode())
    return seed


def read_seed(path: Path) -> bytes | None:
    """Give the seed (32 bytes) that a file holds, None if there is no such file.

    Raises UsageError `key-file`, which shows nothing of it.
    """
    try:
        seed = bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        seed = b""
    if len(seed) != SEED_BYTES:
        raise UsageError(
            "key-file",
            f"{path} holds no seed of a key that can be read",
            f"it has {2 * SEED_BYTES} hex digits, as refold trials keygen writes them",
        )
    return seed
