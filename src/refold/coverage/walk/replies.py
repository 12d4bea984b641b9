"""Replies judged before their bodies are read: which are pages, and why the others are none.

Source: coverage spec §5.3 V-8, §5.5 R-2 to R-4.
"""

from collections.abc import Mapping
from types import MappingProxyType

from refold.coverage.codes import REASONS
from refold.coverage.walk.asking import Answer, Failure
from refold.coverage.walk.page import is_json_type

__all__ = ["is_broken", "refusal"]

_OK = 200
_TOO_MANY = 429
_SERVER_ERRORS = 500

FAILURES: Mapping[str, str] = MappingProxyType(
    {
        "too-slow": "budget_exhausted",
        "body-too-large": "budget_exhausted",
        "head-too-large": "budget_exhausted",
        "redirected-off-source": "redirected_off_source",
        "address-forbidden": "address_refused",
        "scheme-forbidden": "address_refused",
        "url-invalid": "address_refused",
        "encoding-refused": "not_json",
    }
)
"""Replay reasons by the codes of the guarded client; every other code is source_unreachable."""


def refusal(reply: Answer | Failure) -> str:
    """Give the replay reason why a reply is no page of JSON, "" if it may be one."""
    if isinstance(reply, Failure):
        return FAILURES.get(reply.code, "source_unreachable")
    if reply.status == _TOO_MANY or reply.status >= _SERVER_ERRORS:
        return "source_unreachable"
    if reply.status != _OK:
        return "http_status"
    return "" if is_json_type(reply.header("content-type")) else "not_json"


def is_broken(reason: str) -> bool:
    """Tell whether a reason says that the recipe does not work, not just that an end is missing."""
    return REASONS[reason].effect == "BROKEN"
