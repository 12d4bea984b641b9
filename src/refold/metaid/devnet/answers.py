"""Answers of the indexer's API: JSON in envelopes, with the headers of the real ones."""

import msgspec
from litestar import Response

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Allow-Methods": "GET,HEAD,POST,PUT,DELETE,OPTIONS",
}
"""Headers of every answer of the API (facts: metaid §3.1)."""

JSON_TYPE = "application/json; charset=utf-8"
TEXT_TYPE = "text/plain; charset=utf-8"

_ENCODER = msgspec.json.Encoder()


def as_json(value: object, status: int = 200) -> Response[bytes]:
    """Answer with JSON."""
    return as_bytes(_ENCODER.encode(value), JSON_TYPE, status)


def as_bytes(
    body: bytes, content_type: str, status: int = 200, headers: dict[str, str] | None = None
) -> Response[bytes]:
    """Answer with bytes as they are."""
    # As a header: for a media type of text the framework would add a charset of its own.
    headers = CORS | {"content-type": content_type} | (headers or {})
    return Response(body, status_code=status, headers=headers)


def as_text(text: str, status: int = 200) -> Response[bytes]:
    """Answer with plain text."""
    return as_bytes(text.encode(), TEXT_TYPE, status)


def man(data: object, code: int = 1, message: str = "ok", status: int = 200) -> Response[bytes]:
    """Answer in the envelope of MAN, where code 1 is success (§3.3)."""
    return as_json({"code": code, "message": message, "data": data}, status)


def mfs(data: object, code: int = 0, message: str = "success") -> Response[bytes]:
    """Answer in the envelope of the metafile indexer, where code 0 is success (§4)."""
    return as_json({"code": code, "message": message, "processingTime": 0, "data": data})


def not_routed() -> Response[bytes]:
    """Answer as the real servers do where they have no route."""
    return as_text("404 page not found", 404)
