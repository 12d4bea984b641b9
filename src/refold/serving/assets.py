"""Static files: few, small, in memory, each under a name that holds its digest.

All style sheets are served as one, `STYLE`, in the order of the folders: a page asks for one file.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from refold.kernel.errors import UsageError

__all__ = ["STYLE", "Asset", "Assets"]

STYLE = "refold.css"

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "woff2": "font/woff2",
    "txt": "text/plain; charset=utf-8",
}
MAX_ASSET_BYTES = 512 * 1024
"""A page that needs more than this does not load quickly."""


class Asset(msgspec.Struct, frozen=True):
    """A file that is served."""

    media_type: str
    body: bytes


class Assets:
    """The files in `static` of each folder, by name and by the name they are served under."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._names: dict[str, str] = {}
        self._served: dict[str, Asset] = {}
        styles = []
        for folder in folders:
            for path in sorted((folder / "static").glob("*")):
                if path.suffix == ".css":
                    styles.append(path.read_bytes())
                else:
                    self._add(path.name, path.read_bytes())
        if styles:
            self._add(STYLE, b"\n".join(styles))

    def _add(self, name: str, body: bytes) -> None:
        stem, suffix = name.rsplit(".", 1) if "." in name else (name, "")
        media_type = _TYPES.get(suffix)
        if media_type is None or len(body) > MAX_ASSET_BYTES or name in self._names:
            raise UsageError(
                "asset", f"{name} cannot be served", "a known type, small, and one of its name"
            )
        served = f"{stem}.{sha256(body).hexdigest()[:12]}.{suffix}"
        self._names[name] = served
        self._served[served] = Asset(media_type, body)

    def path(self, name: str) -> str:
        """Give the path under which a file is served. Raises UsageError `asset`."""
        if name not in self._names:
            raise UsageError("asset", f"there is no file {name}", "put it into static")
        return f"/static/{self._names[name]}"

    def get(self, served: str) -> Asset | None:
        """Give the file that is served under a name."""
        return self._served.get(served)
