"""`refold coverage compare`, `hash`, `canon`, `explain`, `schema`."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.sourced import NOW
from cli.terminal import is_plain, refold
from coverage.receipts import EXAMPLE_TEXT, changed, consensus, example
from refold.coverage import CODES, REASONS, schema
from refold.kernel.canon import canonical


def test_compare_tells_succession_and_equivocation(tmp_path: Path) -> None:
    pin = "ab" * 32 + "i0"
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    def compared(one: Any, other: Any, *options: str) -> int:
        first.write_text(json.dumps(one))
        second.write_text(json.dumps(other))
        named = ("--first-pin", pin, *options)
        answer = refold("coverage", "compare", str(first), str(second), *NOW, *named)
        assert is_plain(answer.out)
        told = refold("coverage", "compare", str(first), str(second), *NOW, *named)
        assert told.code == answer.code
        return answer.code

    later = changed(example(), "/corpus/asOf", "2030-01-02T04:00:00Z")
    assert compared(example(), later) == 0
    assert compared(example(), later | {"supersedes": pin}) == 0
    other = changed(later, "/corpus/units/0/id", "another")
    assert compared(example(), other | {"supersedes": pin}) == 3
    block = consensus()
    split = changed(block, "/consensus/sourceSet/1/setDigest", "ee" * 32)
    split = changed(split, "/consensus/mode", "SPLIT")
    assert compared(block, split) == 3
    assert compared(example(), {"v": 1}) == 1


def test_hash_and_canon_compute_what_is_hashed(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(EXAMPLE_TEXT)
    told = refold("coverage", "hash", str(file), "--format", "json").json
    assert told == {
        "receiptHash": "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244",
        "queryHash": "6ccf86749a627a00881f79a240ae77f1b9e9d04910acbd72fd1a3484fa7f9423",
        "resultHash": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
    }
    canon = refold("coverage", "canon", str(file))
    assert canon.out.encode() == canonical(example())
    statement = refold("coverage", "hash", str(file), "--statement").json
    assert statement["subject"][0]["digest"] == {"sha256": told["receiptHash"]}
    ids = refold("coverage", "hash", "-", stdin=b'["a","b"]')
    assert ids.out.startswith("sha256 0473ef2dc0d324ab659d3580c1134e9d812035905c4781fdd6d529b0c686")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{", "E_JSON"),
        (b"\xff", "E_ENCODING"),
        (b"1.5", "E_CANON_DOMAIN"),
        (b'{"a":1,"a":2}', "E_DUPLICATE_KEY"),
        (b" " * (2 << 20), "E_TOO_LARGE"),
    ],
)
def test_what_has_no_hash(data: bytes, code: str) -> None:
    for command in ("hash", "canon"):
        answer = refold("coverage", command, "-", stdin=data)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith(f"refold: {code}: ")


@pytest.mark.parametrize("code", [*CODES, *REASONS])
def test_every_code_is_explained(code: str) -> None:
    answer = refold("coverage", "explain", code)
    assert answer.code == 0
    assert answer.out.startswith(code)
    known = CODES.get(code) or REASONS[code]
    assert known.remedy in answer.out
    assert refold("coverage", "explain", code, "--format", "json").json["id"] == code


def test_explain_lists_all_and_knows_no_other() -> None:
    listed = [line.split()[0] for line in refold("coverage", "explain").out.splitlines()]
    assert listed == [*CODES, *REASONS]
    assert refold("coverage", "explain", "E_NOTHING").code == 2


@pytest.mark.parametrize("name", ["record", "report"])
def test_schemas_are_printed(name: str) -> None:
    assert refold("coverage", "schema", name).json == schema(name)  # type: ignore[arg-type]
