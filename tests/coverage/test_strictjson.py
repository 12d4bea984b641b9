"""The strict reader (spec §5.4, Reading; case C8)."""

import contextlib
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.coverage.strictjson import (
    MAX_DEPTH,
    MAX_DIGITS,
    StrictJsonError,
    read_page,
    read_record,
    strip_bom,
)

NOT_JSON, AMBIGUOUS = "not_json", "json_ambiguous"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", NOT_JSON),
        (b"<html>[]</html>", NOT_JSON),
        (b"{}{}", NOT_JSON),
        (b"[1,]", NOT_JSON),
        (b"[01]", NOT_JSON),
        (b"[+1]", NOT_JSON),
        (b"[1.]", NOT_JSON),
        (b"[.5]", NOT_JSON),
        (b"{a:1}", NOT_JSON),
        (b'["\n"]', NOT_JSON),
        (b'["\\x41"]', NOT_JSON),
        (b"\xa0[]", NOT_JSON),
        ("\u2028[]".encode(), NOT_JSON),
        (b"[] // x", NOT_JSON),
        (b"nul", NOT_JSON),
        (b'{"a":1}'.decode().encode("utf-16"), NOT_JSON),
        (b'{"a":1}'.decode().encode("utf-32"), NOT_JSON),
        (b'{"a":1}'.decode().encode("utf-16-le"), NOT_JSON),
        (b'["\xff"]', NOT_JSON),
        (b'["\xc0\x80"]', NOT_JSON),
        (b'["\xed\xa0\x80"]', NOT_JSON),
        (b'{"items":[{"id":999}],"items":[]}', AMBIGUOUS),
        (b'{"a":{"b":1,"\\u0062":2}}', AMBIGUOUS),
        (b'{"items":[],"score":NaN}', AMBIGUOUS),
        (b"[Infinity]", AMBIGUOUS),
        (b"[-Infinity]", AMBIGUOUS),
        (b"\xef\xbb\xbf[]", AMBIGUOUS),
        (b"[" * 5000 + b"]" * 5000, AMBIGUOUS),
        (b"[" * 65 + b"]" * 65, AMBIGUOUS),
        (b"[1e99999999999999999999]", AMBIGUOUS),
        (b"[1e-99999999999999999999]", AMBIGUOUS),
        (b"[" + b"1" * (MAX_DIGITS + 1) + b"]", AMBIGUOUS),
        (b"[-" + b"1" * (MAX_DIGITS + 1) + b"]", AMBIGUOUS),
        (b'["\\ud800"]', AMBIGUOUS),
        (b'["\\udc00\\ud800"]', AMBIGUOUS),
        (b'{"\\uDFFF":1}', AMBIGUOUS),
        (b'["\\ud83d x"]', AMBIGUOUS),
    ],
)
def test_c8_what_parsers_read_differently(data: bytes, reason: str) -> None:
    with pytest.raises(StrictJsonError) as caught:
        read_page(data)
    assert caught.value.reason == reason
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b" \t\r\n[1]\n ", [1]),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"[1.0,1e2,-0]", [Decimal("1.0"), Decimal("1e2"), 0]),
        (b"[1e999]", [Decimal("1e999")]),
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, json.loads("[" * 64 + "]" * 64)),
        (b"[" + b"9" * MAX_DIGITS + b"]", [10**MAX_DIGITS - 1]),
        (b"[-" + b"9" * MAX_DIGITS + b"]", [1 - 10**MAX_DIGITS]),
        (b'["' + b"9" * 9000 + b'",7]', ["9" * 9000, 7]),
        (b'["' + b"[" * 9000 + b'"]', ["[" * 9000]),
        (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
        (b'["\\u0000"]', ["\0"]),
    ],
)
def test_what_they_read_alike(data: bytes, value: object) -> None:
    assert read_page(data) == value


def test_numbers_are_never_floats() -> None:
    assert [type(number) for number in read_page(b"[1,1.0,1e1]")] == [int, Decimal, Decimal]


def test_one_bom_is_the_callers_to_strip() -> None:
    assert strip_bom(b"\xef\xbb\xbf[]") == (b"[]", True)
    assert strip_bom(b"[]") == (b"[]", False)
    data, _ = strip_bom(b"\xef\xbb\xbf\xef\xbb\xbf[]")
    with pytest.raises(StrictJsonError):
        read_page(data)


@pytest.mark.parametrize("before", [0, 1, MAX_DIGITS - 1, MAX_DIGITS, MAX_DIGITS + 1, 9000])
@pytest.mark.parametrize("digits", [MAX_DIGITS, MAX_DIGITS + 1])
def test_long_numbers_are_found_wherever_they_stand(before: int, digits: int) -> None:
    data = b" " * before + b"1" * digits
    if digits > MAX_DIGITS:
        with pytest.raises(StrictJsonError):
            read_page(data)
    else:
        assert read_page(data) == int("1" * digits)


@given(
    st.binary(max_size=60) | st.text(st.sampled_from('[]{}":,\\u0d8Ffnt19.eE- ')).map(str.encode)
)
def test_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_page, read_record):
        with contextlib.suppress(StrictJsonError):
            read(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
)


@given(JSON, st.booleans())
def test_plain_json_is_read_as_it_is(value: object, escaped: bool) -> None:
    data = json.dumps(value, ensure_ascii=escaped).encode()
    assert read_page(data) == value
    assert read_record(data) == (value, ())


def test_records_tell_every_repeated_name_by_its_place() -> None:
    data = (
        b'{"a":[{"x":1,"x":2,"x":3,"y":0}],"b":{"c":{"d":1,"d":2}},"b":{"e":1,"e":{"f":2}},"~/":1}'
    )
    value, repeated = read_record(data)
    assert value == {"a": [{"x": 3, "y": 0}], "b": {"e": {"f": 2}}, "~/": 1}
    assert sorted(repeated) == ["/a/0/x", "/b", "/b/e"]
    assert {type(each) for each in (value, value["b"], value["a"][0])} == {dict}
    digits = b"9" * MAX_DIGITS
    value, _ = read_record(b'["%b",%b,-%b,%b]' % (digits * 3, digits, digits, digits + b"9"))
    assert [type(number) for number in value] == [str, int, int, float]
    assert read_record(b'[{"a":1,"a":2}]')[1] == ("/0/a",)
    assert read_record(b'{"a/b":1,"a/b":2}')[1] == ("/a~1b",)
