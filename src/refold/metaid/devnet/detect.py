"""What indexers take bytes for: a small part of the sniffing that Go's HTTP library does."""

import re

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
)
_SNIFFED_BYTES = 512
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def detected_type(body: bytes) -> str:
    """Give the content type that the first bytes speak for: text if nothing in them is binary."""
    head = body[:_SNIFFED_BYTES]
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    return "application/octet-stream" if _BINARY.search(head) else "text/plain; charset=utf-8"
