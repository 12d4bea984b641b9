import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel import errors
from refold.kernel.errors import (
    Exit,
    InputError,
    Problem,
    RefoldError,
    SourceError,
    UsageError,
    json_pointer,
    one_line,
)

# All of Unicode, lone surrogates included: what a hostile input may put into a message.
ANY_TEXT = st.text(st.characters(exclude_categories=[]))


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    assert drawn == [branch.__name__ for branch in RefoldError.__subclasses__()]


def test_every_branch_has_its_own_exit_code() -> None:
    codes = {branch: branch.exit_code for branch in (InputError, SourceError, UsageError)}
    assert codes == {InputError: Exit.INPUT, SourceError: Exit.SOURCE, UsageError: Exit.USAGE}
    assert RefoldError.exit_code is Exit.INTERNAL
    assert {code.name: code.value for code in Exit} == {
        "DONE": 0,
        "NO": 1,
        "USAGE": 2,
        "INPUT": 3,
        "SOURCE": 4,
        "INTERNAL": 70,
        "INTERRUPTED": 130,
    }


def test_the_line_says_what_where_and_the_remedy_in_this_order() -> None:
    error = InputError("a-code", "the colour is unknown", "use red or blue", "/car/colour")
    assert str(error) == "the colour is unknown at /car/colour; use red or blue"
    assert str(InputError("a-code", "the colour is unknown")) == "the colour is unknown"
    assert str(Problem("a-code", "no digest", line=7)) == "no digest in line 7"


def test_an_error_made_alone_is_its_own_first_problem() -> None:
    error = SourceError("a-code", "closed", "wait", "/x")
    assert error.errors == (Problem("a-code", "closed", "wait", "/x"),)


def test_an_error_of_many_problems_keeps_all_of_them_in_order() -> None:
    problems = [Problem("first", "one", "do this", "/a"), Problem("second", "two", line=3)]
    error = InputError.of(problems)
    assert isinstance(error, InputError)
    assert (error.code, error.message, error.hint, error.pointer) == (
        "first",
        "one",
        "do this",
        "/a",
    )
    assert error.errors == tuple(problems)
    assert str(error) == "one at /a; do this (and 1 more)"


def test_errors_survive_the_way_between_processes() -> None:
    error = UsageError.of([Problem("first", "one", "do", "/a", 1), Problem("second", "two")])
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is UsageError
    assert (again.code, again.errors, str(again)) == (error.code, error.errors, str(error))


@settings(deadline=None)
@given(message=ANY_TEXT, hint=ANY_TEXT, pointer=ANY_TEXT)
def test_no_text_breaks_the_line_or_reaches_the_terminal(
    message: str, hint: str, pointer: str
) -> None:
    line = str(RefoldError("a-code", message, hint, pointer))
    assert line.isprintable()


def test_a_long_part_is_shortened() -> None:
    assert one_line("x" * errors.MAX_PART_LENGTH) == "x" * errors.MAX_PART_LENGTH
    shortened = one_line("x" * 10**6)
    assert (len(shortened), shortened[-1]) == (errors.MAX_PART_LENGTH, "…")


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        ([], ""),
        (["a", 0, "b"], "/a/0/b"),
        ([""], "/"),
        (["a/b", "m~n", "~1"], "/a~1b/m~0n/~01"),
        (["\ud800"], "/\ufffd"),
    ],
)
def test_pointers_are_those_of_rfc_6901(parts: list[str | int], pointer: str) -> None:
    assert json_pointer(parts) == pointer


@settings(deadline=None)
@given(st.lists(st.text()))
def test_a_pointer_leads_back_to_its_parts(parts: list[str]) -> None:
    steps = json_pointer(parts).split("/")[1:]
    assert [step.replace("~1", "/").replace("~0", "~") for step in steps] == parts
