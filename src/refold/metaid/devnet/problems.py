"""Errors of our own routes, in the shape of RFC 9457."""

import msgspec
from litestar import Response

from refold.kernel.errors import RefoldError

_TITLES = {400: "Bad Request", 403: "Forbidden"}


def problem(status: int, code: str, detail: str, hint: str = "") -> Response[bytes]:
    """Answer that something is wrong; `code` is stable, `detail` and `hint` are for people."""
    body = {
        "type": "about:blank",
        "title": _TITLES[status],
        "status": status,
        "code": code,
        "detail": detail,
        "hint": hint,
    }
    return Response(
        msgspec.json.encode(body), status_code=status, media_type="application/problem+json"
    )


def problem_of(error: RefoldError) -> Response[bytes]:
    """Answer with what an error says."""
    return problem(400, error.code, error.message, error.hint)
