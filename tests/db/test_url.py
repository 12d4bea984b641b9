"""Which URLs name a database, and what of them is shown."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.db.url import PostgresUrl, SqliteUrl, parse_database_url
from refold.kernel.errors import UsageError


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///refold.db", "refold.db"),
        ("sqlite:////var/lib/refold.db", "/var/lib/refold.db"),
        ("sqlite:///a folder/ä.db", "a folder/ä.db"),
    ],
)
def test_a_file_is_named_behind_three_slashes(url: str, path: str) -> None:
    assert parse_database_url(url) == SqliteUrl(Path(path))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db.example.test:5433/wiki", "me@db.example.test:5433/wiki"),
        ("postgres://db.example.test/wiki", "db.example.test/wiki"),
        ("postgresql+psycopg://me@/wiki?host=/run/postgresql", "me@/run/postgresql/wiki"),
        ("postgresql://me:a%40b%3Ac@[::1]/wiki?sslmode=require", "me@::1/wiki"),
        ("postgresql:///wiki", "/wiki"),
        ("postgresql://", "/"),
    ],
)
def test_a_server_is_shown_without_password_and_options(url: str, shown: str) -> None:
    parsed = parse_database_url(url)
    assert isinstance(parsed, PostgresUrl)
    assert parsed.shown == f"postgresql://{shown}"
    assert repr(parsed) == f"PostgresUrl(postgresql://{shown})"


def test_a_password_given_apart_takes_the_place_of_the_one_in_the_url() -> None:
    for url in ("postgresql://me@h/d", "postgresql://me:old@h/d"):
        parsed = parse_database_url(url, "new")
        assert isinstance(parsed, PostgresUrl)
        assert "me:new@" in parsed.url.render_as_string(hide_password=False)
    parsed = parse_database_url("postgresql://me:old@h/d")
    assert isinstance(parsed, PostgresUrl)
    assert "me:old@" in parsed.url.render_as_string(hide_password=False)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "refold.db",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://refold.db",
        "sqlite:///:memory:",
        "sqlite:///refold.db?mode=ro",
        "sqlite:///re\0fold.db",
        "sqlite+aiosqlite:///refold.db",
        "mysql://me@h/d",
        "postgresql+asyncpg://me@h/d",
        "postgresql://me@h:port/d",
        "postgresql://me:a@b@h/d",
        "postgresql://me:a/b@h/d",
        "postgresql://me::@[:]@h/d",
        "postgresql://me@h/d#fragment",
        "postgresql://me@h/d?password=x",
        "postgresql://me@h/d?sslpassword=x",
        "postgresql://me@h/d?oauth_client_secret=x",
    ],
)
def test_what_names_no_database_of_ours_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_database_url(url)
    assert caught.value.code == "database-url"


@given(st.text())
def test_any_text_is_a_url_or_an_error(text: str) -> None:
    for url in (text, f"sqlite:///{text}", f"postgresql://{text}"):
        with suppress(UsageError):
            parse_database_url(url)


@given(st.text("abcxyz:@/%?#[] ", min_size=8).filter(str.strip))
def test_no_refusal_repeats_the_url(password: str) -> None:
    url = f"postgresql://me:{password}@host/name?password={password}"
    with pytest.raises(UsageError) as caught:
        parse_database_url(url)
    assert password not in str(caught.value)
    assert caught.value.__cause__ is None
