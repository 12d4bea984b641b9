"""Routes that need no source: checks, canonical form, the catalogue of codes, the schemas."""

from refold.coverage.api.asked import CodeAsked, SchemaAsked
from refold.coverage.api.desk import Desk
from refold.coverage.api.model import CanonShown, Checked, CodeShown
from refold.coverage.checks import validate
from refold.coverage.codes import CODES, REASONS
from refold.coverage.record import MAX_RECORD_BYTES
from refold.coverage.report import findings_of
from refold.coverage.schemas import schema_text
from refold.coverage.strictjson import StrictJsonError, read_record
from refold.kernel.canon import canonical, sha256_hex
from refold.kernel.errors import InputError, Problem
from refold.serving.answers import Answer, Page
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.operation import get, post

__all__ = ["CheckingApi"]

SCHEMA_TYPE = "application/schema+json"


class CheckingApi:
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @post(
        "/v1/coverage/validate",
        summary="Check a record",
        max_body=MAX_RECORD_BYTES,
    )
    async def validate(self, body: bytes) -> Checked:
        """Give every error and warning of a record, with its place and remedy. Asks nobody."""
        return await self._desk.threads.run(_checked, body, self._desk.moment())

    @post(
        "/v1/coverage/canon",
        summary="Give the bytes that are hashed",
        codes=("E_ENCODING", "E_JSON", "E_DUPLICATE_KEY", "E_CANON_DOMAIN"),
        max_body=MAX_RECORD_BYTES,
    )
    async def canon(self, body: bytes) -> CanonShown:
        """Give the canonical form of a JSON value, a record, a criterion or any other."""
        return await self._desk.threads.run(canon_of, body)

    @get("/v1/coverage/errors", summary="List errors, warnings and reasons")
    def errors(self, asked: ListAsked, call: Call) -> Page[CodeShown]:
        """Give what the checks and a replay may say, by id, with the remedies."""
        after = call.place(asked, tuple[str])
        ids = sorted((*CODES, *REASONS))
        rows = [name for name in ids if after is None or name > after[0]]
        return call.page(asked, rows, keyset=lambda name: (name,), item=_shown)

    @get(
        "/v1/coverage/errors/{id}",
        summary="Say what a code means",
        codes=("error-unknown",),
        example={"id": "E_MATCH_SHAPE"},
    )
    def error(self, asked: CodeAsked) -> CodeShown:
        """Give one code."""
        if asked.id not in CODES and asked.id not in REASONS:
            raise InputError("error-unknown", "there is no such code", "list them", "/id")
        return _shown(asked.id)

    @get(
        "/v1/coverage/schema/{name}",
        summary="Give the JSON Schema of record or report",
        media_type=SCHEMA_TYPE,
    )
    def schema(self, asked: SchemaAsked) -> Answer[bytes]:
        """Give a schema (draft-07) as it is published."""
        return Answer(schema_text(asked.name).encode(), media_type=SCHEMA_TYPE)


def _checked(data: bytes, now: str) -> Checked:
    validation = validate(data, now)
    return Checked(
        valid=validation.is_valid,
        receipt_hash=validation.receipt_hash,
        claim=None if validation.receipt is None else validation.receipt.claim,
        errors=findings_of(validation.errors),
        warnings=findings_of(validation.warnings),
    )


def canon_of(data: bytes) -> CanonShown:
    """Give the canonical form. Raises InputError with all that has none (`E_…`)."""
    try:
        value, repeated = read_record(data)
    except StrictJsonError as error:
        raise InputError(error.code, str(error), CODES[error.code].remedy) from error
    if repeated:
        code = CODES["E_DUPLICATE_KEY"]
        raise InputError.of(
            [Problem(code.id, code.says, code.remedy, pointer) for pointer in repeated]
        )
    try:
        told = canonical(value)
    except InputError as error:
        code = CODES["E_CANON_DOMAIN"]
        raise InputError.of(
            [Problem(code.id, one.message, code.remedy, one.pointer) for one in error.errors]
        ) from error
    return CanonShown(told.decode(), len(told), sha256_hex(told))


def _shown(name: str) -> CodeShown:
    code = CODES.get(name)
    if code is not None:
        return CodeShown(code.id, code.severity, code.rules, code.says, code.remedy, None)
    reason = REASONS[name]
    return CodeShown(reason.id, "reason", reason.rules, reason.says, reason.remedy, reason.effect)
