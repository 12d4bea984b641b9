"""A receipt in the forms that other programs and people take: in-toto, SARIF, Markdown (spec §6).

Pure: the same record, report and moment give the same bytes.
"""

from types import MappingProxyType
from typing import Final, Literal

import msgspec

from refold.coverage.checks import Validation
from refold.coverage.markdown import markdown
from refold.coverage.report import Report, report_unreplayed
from refold.coverage.sarif import sarif
from refold.coverage.statement import check_report, statement
from refold.kernel.errors import InputError
from refold.kernel.guards import guard_json

__all__ = ["MEDIA_TYPES", "Form", "export", "read_report"]

Form = Literal["intoto", "sarif", "markdown"]
MEDIA_TYPES: Final = MappingProxyType(
    {
        "intoto": "application/vnd.in-toto+json",
        "sarif": "application/sarif+json",
        "markdown": "text/markdown; charset=utf-8",
    }
)
"""The forms, with what each is called on the wire."""
MAX_REPORT_BYTES: Final = 64 * 1024 * 1024
"""Of a report: each id of a record of 1 MiB may stand in it as one that is gone."""
_MAX_DEPTH: Final = 16


def export(
    form: Form,
    validation: Validation,
    now: str,
    *,
    name: str = "receipt",
    uri: str = "",
    report: Report | None = None,
) -> bytes:
    """Give a record in a form, ended by a newline.

    `report` is what a replay gave, None for none; `now` stands in the SARIF of a record that was
    not replayed. `name` is the subject of the statement, `uri` the file that SARIF points into.
    Raises InputError: the errors of a record that is not valid, but of SARIF, which lists them;
    `report-of-another`.
    """
    if form == "markdown":
        return markdown(validation, report).encode()
    if form == "intoto":
        value = statement(validation, name, report)
    else:
        if report is not None:
            check_report(validation, report)
        value = sarif(report or report_unreplayed(validation, now), uri)
    return msgspec.json.encode(value) + b"\n"


def read_report(data: bytes) -> Report:
    """Read a report, as `verify --format json` prints it and the API gives it.

    Raises InputError `report-form`, `too-large`, `too-deep`.
    """
    guard_json(data, max_bytes=MAX_REPORT_BYTES, max_depth=_MAX_DEPTH)
    try:
        return msgspec.json.decode(data, type=Report)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            "report-form", f"this is no report: {error}", "give what verify --format json printed"
        ) from error
