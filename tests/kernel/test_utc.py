from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel.errors import InputError, UsageError
from refold.kernel.utc import format_utc, later, now, parse_utc

MOMENTS = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))


@settings(deadline=None)
@given(MOMENTS)
def test_a_moment_comes_back_from_its_text(moment: datetime) -> None:
    assert parse_utc(format_utc(moment)) == moment
    assert parse_utc(format_utc(moment)).tzinfo is UTC


@settings(deadline=None)
@given(MOMENTS, MOMENTS)
def test_texts_are_ordered_as_the_moments_are(one: datetime, other: datetime) -> None:
    assert (format_utc(one) < format_utc(other)) == (one < other)


@settings(deadline=None)
@given(
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]Z", fullmatch=True
    )
)
def test_a_text_that_is_read_is_the_text_of_its_moment(text: str) -> None:
    try:
        moment = parse_utc(text)
    except InputError as error:
        assert error.code == "time-range"  # noqa: PT017 - most of these texts name no moment
    else:
        assert format_utc(moment) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2031-05-09",
        "2031-05-09T07:30Z",
        "2031-05-09T07:30:00",
        "2031-05-09T07:30:00z",
        "2031-05-09t07:30:00Z",
        "2031-05-09 07:30:00Z",
        "2031-05-09T07:30:00.0Z",
        "2031-05-09T07:30:00,5Z",
        "2031-05-09T07:30:00+00:00",
        "2031-05-09T07:30:00-00:00",
        "2031-05-09T07:30:00ZZ",
        " 2031-05-09T07:30:00Z",
        "2031-05-09T07:30:00Z ",
        "2031-05-09T07:30:00Z\n",
        "20310509T073000Z",
        "2031-W19-5T07:30:00Z",
        "31-05-09T07:30:00Z",
        "+2031-05-09T07:30:00Z",
        "12031-05-09T07:30:00Z",
        "2031-5-9T07:30:00Z",
        "\u0662\u0660\u0663\u0661-05-09T07:30:00Z",  # Arabic-Indic digits
        "2031-05-09T07:30:0\uff10Z",  # a full-width digit
        "2031\u201105-09T07:30:00Z",
    ],
)
def test_every_other_form_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_utc(text, "/asOf")
    assert (caught.value.code, caught.value.pointer) == ("time-form", "/asOf")


@pytest.mark.parametrize(
    "text",
    [
        "0000-01-01T00:00:00Z",
        "2031-00-09T07:30:00Z",
        "2031-13-09T07:30:00Z",
        "2031-05-00T07:30:00Z",
        "2031-04-31T07:30:00Z",
        "2031-02-29T07:30:00Z",
        "2100-02-29T07:30:00Z",
        "2031-05-09T24:00:00Z",
        "2031-05-09T07:60:00Z",
        "2016-12-31T23:59:60Z",
    ],
)
def test_moments_that_do_not_exist_are_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_utc(text, "/asOf")
    assert (caught.value.code, caught.value.pointer) == ("time-range", "/asOf")


def test_the_ends_and_a_leap_day_are_read() -> None:
    assert parse_utc("0001-01-01T00:00:00Z") == datetime(1, 1, 1, tzinfo=UTC)
    assert parse_utc("9999-12-31T23:59:59Z") == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert parse_utc("2032-02-29T00:00:00Z") == datetime(2032, 2, 29, tzinfo=UTC)
    assert format_utc(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        (datetime(2031, 5, 9), "time-zone"),  # noqa: DTZ001 - naive is the point
        (datetime(2031, 5, 9, tzinfo=timezone(timedelta(hours=8))), "time-zone"),
        (datetime(2031, 5, 9, tzinfo=timezone(timedelta(seconds=1))), "time-zone"),
        (datetime(2031, 5, 9, 7, 30, 0, 1, tzinfo=UTC), "time-fraction"),
        (datetime(2031, 5, 9, 7, 30, 0, 999_999, tzinfo=UTC), "time-fraction"),
    ],
)
def test_nothing_is_converted_or_cut_in_silence(moment: datetime, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        format_utc(moment)
    assert caught.value.code == code


def test_a_zone_at_offset_zero_is_utc_whatever_its_name() -> None:
    named = timezone(timedelta(0), "Somewhere")
    assert format_utc(datetime(2031, 5, 9, tzinfo=named)) == "2031-05-09T00:00:00Z"


def test_now_is_the_second_the_clock_is_in() -> None:
    before = datetime.now(UTC)
    moment = now()
    after = datetime.now(UTC)
    assert moment.microsecond == 0
    assert before - timedelta(seconds=1) < moment <= after
    assert parse_utc(format_utc(moment)) == moment


@settings(deadline=None)
@given(MOMENTS, st.integers(-(10**12), 10**12))
def test_later_is_so_many_seconds_on(moment: datetime, seconds: int) -> None:
    text = format_utc(moment)
    try:
        expected = format_utc(moment + timedelta(seconds=seconds))
    except OverflowError:
        with pytest.raises(InputError, match="no such time"):
            later(text, seconds)
    else:
        assert later(text, seconds) == expected
