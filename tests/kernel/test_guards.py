import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold.kernel import guards
from refold.kernel.errors import InputError
from refold.kernel.guards import guard_json, json_depth

# Text that confuses a counter of brackets: quotes, backslash runs, brackets.
TRICKY = st.text(st.sampled_from('"\\[]{}:,u0')) | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TRICKY,
    lambda inner: st.lists(inner) | st.dictionaries(TRICKY, inner),
)


def depth_of(value: object) -> int:
    """Tell slowly and plainly how deep a parsed value is."""
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def depth_by_states(data: bytes) -> int:
    """Count byte by byte, with states for strings and escapes, up to what is no JSON any more."""
    depth = deepest = 0
    in_string = escaped = False
    for char in data.decode("latin-1"):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char == "\\":
            return deepest
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
            if depth < 0:
                return deepest
    return deepest


@settings(deadline=None)
@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_for_json_it_is_the_depth_of_the_parsed_value(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    data = text.encode("utf-8", "surrogatepass")
    assert json_depth(data) == depth_of(value)


@pytest.mark.parametrize(
    ("data", "depth"),
    [
        (b"", 0),
        (b"17", 0),
        (b"[]", 1),
        (b"[[],{}]", 2),
        (b'{"a":[{}]}', 3),
        (b'"[[["', 0),
        (rb'["\"[["]', 1),
        (rb'["\\",[]]', 2),
        (rb'["\\\"[["]', 1),
        (rb'["\\\\",[[]]]', 3),
        (rb'["\u005b\u0022[["]', 1),
        ('["\u225b\u2200[",[]]'.encode(), 2),
    ],
)
def test_depths_known_by_hand(data: bytes, depth: int) -> None:
    assert json_depth(data) == depth


@settings(deadline=None)
@given(st.binary() | st.text(st.sampled_from('"\\[]{}a')).map(str.encode))
def test_other_bytes_raise_nothing_and_no_parser_gets_deeper(data: bytes) -> None:
    assert json_depth(data) >= depth_by_states(data)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary() | st.text(st.sampled_from('"\\[]{}a')).map(str.encode), st.integers(1, 5))
def test_the_windows_it_is_read_in_do_not_show(
    monkeypatch: pytest.MonkeyPatch, data: bytes, window: int
) -> None:
    depth = json_depth(data)
    with monkeypatch.context() as small:
        small.setattr(guards, "_WINDOW", window)
        assert json_depth(data) == depth


@settings(deadline=None)
@given(JSON, st.floats(0, 1))
def test_json_that_is_cut_off_is_counted_exactly(value: Any, share: float) -> None:
    data = json.dumps(value).encode()
    begun = data[: int(share * len(data))]
    assert json_depth(begun) == depth_by_states(begun)


def test_deep_and_long_inputs_are_counted() -> None:
    assert json_depth(b"[" * 300_000 + b"]" * 300_000) == 300_000
    assert json_depth(b'{"a":' * 100_000) == 100_000
    assert json_depth(b'["' + rb"\"" * 300_000 + b'",[]]') == 2
    assert json_depth(b'"' * 300_001 + b"[[") == 0


def test_at_its_limits_an_input_passes() -> None:
    data = b'[{"a":"[[[["}]'
    guard_json(data, max_bytes=len(data), max_depth=2)
    assert msgspec.json.decode(data) == [{"a": "[[[["}]


def test_a_byte_too_many_is_too_large() -> None:
    with pytest.raises(InputError) as caught:
        guard_json(b"[[[]]]", max_bytes=5, max_depth=1)
    assert caught.value.code == "too-large"
    assert caught.value.message.startswith("6 bytes, at most 5")


def test_a_level_too_many_is_too_deep() -> None:
    with pytest.raises(InputError) as caught:
        guard_json(b"[[[]]]", max_bytes=6, max_depth=2)
    assert caught.value.code == "too-deep"
    assert caught.value.message.startswith("nesting of 3, at most 2")


@settings(deadline=None)
@given(JSON, st.integers(0, 6))
def test_the_guard_refuses_exactly_what_is_deeper(value: Any, max_depth: int) -> None:
    data = json.dumps(value).encode()
    if depth_of(value) <= max_depth:
        guard_json(data, max_bytes=len(data), max_depth=max_depth)
    else:
        with pytest.raises(InputError) as caught:
            guard_json(data, max_bytes=len(data), max_depth=max_depth)
        assert caught.value.code == "too-deep"
