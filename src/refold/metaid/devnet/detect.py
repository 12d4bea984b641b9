"""What indexers take bytes for: a small part of the sniffing that Go's HTTP library does."""

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
_TEXT_CONTROLS = frozenset(b"\t\n\x0c\r\x1b")


def detected_type(body: bytes) -> str:
    """Give the content type that the first bytes speak for: text if nothing in them is binary."""
    head = body[:_SNIFFED_BYTES]
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if any(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in head):
        return "application/octet-stream"
    return "text/plain; charset=utf-8"
