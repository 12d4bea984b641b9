"""The wire of the Bitcoin family: integers, counts and byte strings, read with bounds.

Nothing is made from a size or a count before the bytes that it claims are known to be there, so
what a reader costs follows from the bytes it was given and from nothing that they say.
"""

from hashlib import sha256

from refold.kernel.errors import InputError


class Reader:
    """A place in bytes that moves forward; raises `InputError` where the bytes end too early."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        """Give the next `size` bytes. Raises `InputError` `bytes-cut`."""
        end = self._at + size
        if end > len(self._data):
            self._refuse_cut(f"{size} bytes")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def uint(self, size: int) -> int:
        """Give the next `size` bytes as an unsigned little-endian integer; `bytes-cut`."""
        return int.from_bytes(self.take(size), "little")

    def compact_size(self) -> int:
        """Give the next compact size, 0 to 2⁶⁴-1. Raises `bytes-cut`, `size-not-minimal`.

        A longer spelling of a small number is refused, as nodes do: one meaning, one form.
        """
        first = self.uint(1)
        if first < 0xFD:
            return first
        width = 2 << (first - 0xFD)
        value = self.uint(width)
        if value < (0xFD if width == 2 else 1 << (4 * width)):
            raise InputError(
                "size-not-minimal",
                f"the size before byte {self._at} takes {width + 1} bytes for {value}",
                "write sizes in their shortest form",
            )
        return value

    def count(self, least_bytes: int) -> int:
        """Give a compact size that counts items of at least `least_bytes` each; `bytes-cut`."""
        claimed = self.compact_size()
        if claimed > (len(self._data) - self._at) // least_bytes:
            self._refuse_cut(f"{claimed} items of at least {least_bytes} bytes")
        return claimed

    def string(self) -> bytes:
        """Give the byte string behind the next compact size; `bytes-cut`, `size-not-minimal`."""
        return self.take(self.compact_size())

    def end(self) -> None:
        """Refuse bytes that are left over: `InputError` `bytes-left`."""
        left = len(self._data) - self._at
        if left:
            raise InputError(
                "bytes-left", f"{left} bytes follow byte {self._at}, the end", "cut them off"
            )

    def _refuse_cut(self, wanted: str) -> None:
        raise InputError(
            "bytes-cut",
            f"{wanted} are claimed at byte {self._at}, {len(self._data) - self._at} bytes are left",
            "fetch the bytes again, whole",
        )


def compact_size(value: int) -> bytes:
    """Give the shortest compact size of `value`, which is 0 to 2⁶⁴-1."""
    if value < 0xFD:
        return value.to_bytes(1, "little")
    if value < 1 << 16:
        return b"\xfd" + value.to_bytes(2, "little")
    if value < 1 << 32:
        return b"\xfe" + value.to_bytes(4, "little")
    return b"\xff" + value.to_bytes(8, "little")


def byte_string(data: bytes) -> bytes:
    """Give `data` behind its compact size."""
    return compact_size(len(data)) + data


def double_sha256(data: bytes) -> bytes:
    """Give SHA-256 of SHA-256 of `data` (32 bytes)."""
    return sha256(sha256(data).digest()).digest()
