"""The tables agree with each other, with the code, and with their Chinese."""

import re
from pathlib import Path

import pytest

import refold.trials
from refold.kernel.errors import InputError
from refold.serving.catalogue import read_po
from refold.trials.codes import CODES, fault, refusal
from refold.trials.intake import read_content
from refold.trials.posts import Message
from refold.trials.rules import BLOCKERS, NOT_PROVEN, PUBLISHER_RULES, REPORTER_RULES
from refold.trials.tables import FORMATS, LIMITS, NODE, Format
from refold.trials.templates import example, template
from trials.examples import ORIGIN, content

FOLDER = Path(refold.trials.__file__).parent
every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


def test_every_code_is_used_and_every_code_used_has_a_row() -> None:
    source = "".join(path.read_text() for path in FOLDER.glob("*.py") if path.name != "codes.py")
    words = set(re.findall(r'"([a-z0-9_]+)"', source))
    assert set(CODES) - words == set()
    told = re.findall(r'(?<![.\w])(?:fault|WrongUrlError|_WrongError)\(\s*"([a-z0-9_]+)"', source)
    assert set(told) - set(CODES) == set()


def test_every_text_has_its_chinese_and_every_translation_its_text() -> None:
    wanted = {NODE.says, *(limit.says for limit in LIMITS), *BLOCKERS.values()}
    wanted |= {*REPORTER_RULES, *PUBLISHER_RULES, NOT_PROVEN}
    for form in FORMATS.values():
        wanted |= {form.says, form.free, *(field.says for field in form.fields)}
    po = (FOLDER / "locale/format.zh.po").read_text(encoding="utf-8")
    assert set(read_po(po, "format.zh.po")) == wanted


@every_format
def test_names_stand_once_and_a_field_is_found_by_its_name(form: Format) -> None:
    names = [field.name for field in (*form.fields, NODE)]
    assert len(set(names)) == len(names)
    assert [form.field(name).name for name in names if form.field(name)] == names  # type: ignore[union-attr]
    assert form.field("nothing") is None


@every_format
def test_an_example_is_right_in_a_preview_and_refused_only_for_its_host(form: Format) -> None:
    text = example(form, ORIGIN)
    reading = read_content(text, ORIGIN, preview=True)
    assert (reading.kind, reading.faults) == (form.kind, ())
    posted = {each.code for each in read_content(text, ORIGIN).problems}
    assert posted == ({"host_example"} if form.kind in {"trial", "review"} else set())


@every_format
def test_a_template_names_every_field_and_has_no_wrong_line(form: Format) -> None:
    text = template(form, ORIGIN)
    assert [line.partition(":")[0] for line in text.split("\n---\n")[0].split("\n")] == [
        *(form.marker, "node"),
        *(field.name for field in form.fields),
    ]
    faults = read_content(text, ORIGIN).faults
    assert all(each.field for each in faults)
    filled = re.sub(r"(?m)^[a-z-]+: <optional: .*\n", "", text).replace(" | ", "\n#")
    assert read_content(re.sub(r"(?m)^#.*\n", "", filled), ORIGIN).kind == form.kind


def test_a_refusal_carries_all_and_points_into_the_message() -> None:
    problems = (
        *read_content(content("run-v1", "outcome: x")).problems,
        fault("key_form", field="public_key"),
    )
    error = refusal(problems)
    assert isinstance(error, InputError)
    assert [each.code for each in error.errors] == [each.code for each in problems]
    assert {each.pointer for each in error.errors} == {"/content", "/public_key"}
    assert error.errors[0].line == problems[0].line


def test_a_warning_refuses_nothing() -> None:
    assert {code for code, row in CODES.items() if row.warning} == {
        *("field_repeated", "field_unknown", "field_empty")
    }
    assert isinstance(read_content("hello").post, Message)
