"""`refold coverage canon|hash|explain|schema`: what needs neither sources nor a clock."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from refold.cli.coverage_report import read_bounded
from refold.cli.output import format_option, print_json, print_line, print_problems
from refold.kernel.errors import Exit, InputError, Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refold.coverage import Code, Reason


@click.command()
@click.argument("file", default="-")
def canon(file: str) -> int:
    """Write the canonical bytes of the JSON in FILE: what is hashed. Exit code 1 if it has none."""
    from refold.kernel.canon import canonical

    value, problems = _value(file)
    if problems:
        print_problems(problems, as_json=False)
        return Exit.NO
    sys.stdout.buffer.write(canonical(value))
    return Exit.DONE


@click.command("hash")
@click.argument("file", default="-")
@click.option(
    "--statement",
    is_flag=True,
    help="Write an unsigned in-toto statement about the receipt, to be signed outside of it.",
)
@format_option
def hash_(file: str, *, statement: bool, form: str) -> int:
    """Print the hashes of the receipt in FILE, or the hash of any other JSON.

    They are computed, not copied: of a receipt receiptHash, queryHash and resultHash. Exit code 1
    for what has none.
    """
    value, problems = _value(file)
    if problems:
        print_problems(problems, as_json=form == "json")
        return Exit.NO
    hashes = _hashes(value)
    if statement:
        told, problems = _statement(file, value)
        if problems:
            print_problems(problems, as_json=form == "json")
            return Exit.NO
        print_json(told)
    elif form == "json":
        print_json(hashes)
    else:
        for name, digest in hashes.items():
            print_line(f"{name} {digest}")
    return Exit.DONE


@click.command()
@click.argument("code", required=False)
@format_option
def explain(code: str | None, form: str) -> None:
    """Say what CODE means and what to do about it; without CODE, list them all."""
    from refold.coverage import CODES, REASONS

    known: dict[str, Code | Reason] = {**CODES, **REASONS}
    if code is not None and code not in known:
        raise UsageError(
            "code-unknown", f"there is no code {code}", "`refold coverage explain` lists them"
        )
    told = list(known.values()) if code is None else [known[code]]
    if form == "json":
        print_json(told if code is None else told[0])
    elif code is None:
        for one in told:
            print_line(f"{one.id:32} {one.says}")
    else:
        print_line(f"{told[0].id}  ({_kind(told[0])}; {', '.join(told[0].rules)})")
        print_line(f"  {told[0].says}")
        print_line(f"  {told[0].remedy}")


@click.command()
@click.argument("name", type=click.Choice(("record", "report")), default="record")
def schema(name: str) -> None:
    """Print the published JSON Schema (draft-07) of the record, or of the verifier's report."""
    from refold.coverage.schemas import schema_text

    sys.stdout.buffer.write(schema_text("report" if name == "report" else "record").encode())


def _value(file: str) -> tuple[Any, Sequence[Problem]]:
    """Read a file strictly; give its JSON value, or what is wrong with it."""
    from refold.coverage.record import MAX_RECORD_BYTES
    from refold.coverage.strictjson import StrictJsonError, read_record
    from refold.kernel.canon import canonical

    data = read_bounded(file)
    if len(data) > MAX_RECORD_BYTES:
        return None, [Problem("E_TOO_LARGE", f"more than {MAX_RECORD_BYTES} bytes")]
    try:
        value, repeated = read_record(data)
        canonical(value)
    except StrictJsonError as error:
        return None, [Problem(error.code, str(error))]
    except InputError as error:
        return None, list(error.errors)
    twice = "an object has one member name twice"
    return value, [Problem("E_DUPLICATE_KEY", twice, pointer=pointer) for pointer in repeated]


def _hashes(value: Any) -> dict[str, str]:  # noqa: ANN401 - any JSON value
    from refold.kernel.canon import digest

    if type(value) is not dict or type(value.get("query")) is not dict:
        return {"sha256": digest(value)}
    hashes = {"receiptHash": digest(value)}
    if "canon" in value["query"]:
        hashes["queryHash"] = digest(value["query"]["canon"])
    result = value.get("result")
    if type(result) is dict and type(result.get("matches")) is list:
        matches = [
            {name: match[name] for name in ("id", "digest") if name in match}
            for match in result["matches"]
            if type(match) is dict
        ]
        hashes["resultHash"] = digest(matches)
    return hashes


def _statement(file: str, value: Any) -> tuple[dict[str, Any], Sequence[Problem]]:  # noqa: ANN401
    """Give a statement about the receipt, or the errors of the record.

    It is checked at its own asOf: there is no clock here, and whether asOf has come is no matter.
    """
    from refold.coverage import validate_value
    from refold.coverage.statement import statement
    from refold.kernel.utc import parse_utc

    corpus = value.get("corpus") if type(value) is dict else None
    as_of = corpus.get("asOf") if type(corpus) is dict else None
    try:
        parse_utc(as_of if type(as_of) is str else "")
    except InputError:
        as_of = "1970-01-01T00:00:00Z"  # refused for what it is
    validation = validate_value(value, str(as_of))
    if not validation.is_valid:
        return {}, validation.errors
    name = "receipt" if file == "-" else file.encode(errors="backslashreplace").decode()
    return statement(validation, name), ()


def _kind(told: Code | Reason) -> str:
    from refold.coverage import Code

    return told.severity if isinstance(told, Code) else f"replay reason, {told.effect}"
