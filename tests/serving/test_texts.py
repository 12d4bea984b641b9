"""Messages in two languages, feeds, forwarded addresses: small things that are easily wrong."""

import re
from ipaddress import ip_address
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.ext import extract_from_ast

import refold.serving
from refold.agentpedia.reasons import APPLIED, REASONS
from refold.agentpedia.rulepack import built_in_pack
from refold.db import Database
from refold.kernel.errors import InputError, UsageError
from refold.serving.catalogue import Catalogue, catalogues, files_of, read_po
from refold.serving.feeds import MAX_ENTRIES, Entry, atom
from refold.serving.language import DEFAULT_LANGUAGE, LANGUAGES
from refold.serving.pages import environment
from refold.serving.proxies import Proxies
from refold.serving.reading import Threads, read_in_thread, read_inline

SRC = Path(refold.serving.__file__).parents[1]
FOLDERS = sorted({path.parent for path in SRC.glob("*/templates")})
NAMESPACE = {"a": "http://www.w3.org/2005/Atom"}


def messages_of(folder: Path) -> set[str]:
    """Give all messages in the templates of a folder, in their first form."""
    env = environment(FOLDERS, Catalogue("en", {}))
    found = set()
    for path in folder.glob("templates/**/*.html"):
        tree = env.parse(path.read_text(encoding="utf-8"))
        for _, _, message in extract_from_ast(tree):
            first = message[0] if isinstance(message, tuple) else message
            if first:
                found.add(first)
    return found


def test_there_are_folders_with_templates() -> None:
    assert {folder.name for folder in FOLDERS} >= {"serving", "web"}


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != DEFAULT_LANGUAGE])
def test_every_message_has_every_language_and_every_translation_its_message(language: str) -> None:
    wanted = set().union(*map(messages_of, FOLDERS))
    there: dict[str, tuple[str, ...]] = {}
    for folder in FOLDERS:
        for path in files_of(folder, language):
            there |= read_po(path.read_text(encoding="utf-8"), path.name)
    assert wanted - set(there) == set()
    labels = {label for path in SRC.glob("**/*.py") for label in labels_in(path)}
    labels |= rules_in_words()
    assert set(there) - wanted - labels == set()
    assert labels - set(there) == set()


def rules_in_words() -> set[str]:
    """Give what pages say of reasons and of the rules of the rule pack: it stands in data."""
    told = {
        text
        for reason in (*REASONS.values(), *APPLIED.values())
        for text in (reason.says, reason.remedy)
    }
    return (told | {rule.says for rule in built_in_pack().rules}) - {""}


def labels_in(path: Path) -> list[str]:
    """Give the messages that stand in code: labels of the menu, names and summaries of parts."""
    source = path.read_text(encoding="utf-8")
    about = re.findall(
        r'\bPart\(\s*name="(?!web")[^"]+",\s*title="([^"]+)",\s*summary="([^"]+)"', source
    )
    guides = re.findall(r'\bGuide\((?:"[^"]+", ){3}"([^"]+)"', source)
    return [
        *re.findall(r'Nav\("([^"]+)"', source),
        *(text for pair in (*about, guides) for text in pair),
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_placeholders_are_the_same_in_a_translation(folder: Path) -> None:
    for path in folder.glob("locale/*.po"):
        for message, forms in read_po(path.read_text(encoding="utf-8"), path.name).items():
            names = set(re.findall(r"%\(\w+\)s", message))
            assert all(set(re.findall(r"%\(\w+\)s", form)) == names for form in forms)


def test_a_catalogue_is_read_as_gettext_has_it() -> None:
    text = """
# A comment
msgid ""
msgstr "Language: zh\\n"

msgid "two "
"lines"
msgstr "两"
"行"

msgid "a \\"quote\\""
msgstr "引"

msgid "%(n)s cat"
msgid_plural "%(n)s cats"
msgstr[0] "%(n)s 猫"

msgid "not yet"
msgstr ""
"""
    assert read_po(text, "x.po") == {
        "two lines": ("两行",),
        'a "quote"': ("引",),
        "%(n)s cat": ("%(n)s 猫",),
    }


@pytest.mark.parametrize("text", ['"loose"', "msgid unquoted", 'msgctxt "x"', 'msgid "a" "b"'])
def test_what_is_no_catalogue_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"x\.po, line 2"):
        read_po(f"\n{text}", "x.po")


def test_a_message_stands_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        read_po('msgid "a"\nmsgstr "b"\nmsgid "a"\nmsgstr "c"', "x.po")


def test_what_has_no_translation_stays_english() -> None:
    found = catalogues(FOLDERS)
    assert set(found) == set(LANGUAGES)
    assert found["zh"].gettext("never written") == "never written"
    assert found["zh"].ngettext("a cat", "cats", 2) == "cats"
    assert found["zh"].gettext("For programs") != "For programs"
    assert found["en"].gettext("For programs") == "For programs"


@given(st.lists(st.text(max_size=30), min_size=5, max_size=5))
def test_a_feed_holds_any_text_and_is_xml(texts: list[str]) -> None:
    id_, title, link, author, summary = texts
    entry = Entry(id_, title, link, "2026-01-01T00:00:00Z", author, summary)
    data = atom(
        id_="urn:a", title=title, link="http://a.test/", self_link="http://a.test/feed",
        updated="2026-01-01T00:00:00Z", entries=[entry],
    )  # fmt: skip
    feed = fromstring(data)  # noqa: S314 (our own)
    assert feed.findtext("a:entry/a:title", None, NAMESPACE) == as_xml_reads(title)
    assert feed.findtext("a:entry/a:author/a:name", None, NAMESPACE) == as_xml_reads(author)


def as_xml_reads(text: str) -> str:
    """Give a text as XML 1.0 gives it back: line ends are one, what may not stand is replaced."""
    fit = "".join(
        char
        if char in "\t\n\r"
        or " " <= char <= "\ud7ff"
        or "\ue000" <= char <= "\ufffd"
        or char > "\uffff"
        else "\ufffd"
        for char in text
    )
    return fit.replace("\r\n", "\n").replace("\r", "\n")


def test_a_feed_is_not_longer_than_anybody_reads() -> None:
    entries = [Entry(f"urn:{n}", "t", "/", "2026-01-01T00:00:00Z", "a") for n in range(500)]
    data = atom(
        id_="urn:a", title="t", link="/", self_link="/", updated="2026-01-01T00:00:00Z",
        entries=entries,
    )  # fmt: skip
    feed = fromstring(data)  # noqa: S314 (our own)
    assert len(feed.findall("a:entry", NAMESPACE)) == MAX_ENTRIES


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, nonsense, 10.0.0.2", "10.0.0.2"),
        ("::1", "2001:DB8::1", "2001:db8::1"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
    ],
)
def test_a_client_is_the_first_that_is_no_proxy_of_ours(
    peer: str, forwarded: str, client: str
) -> None:
    assert Proxies(["10.0.0.0/8", "::1"]).client(peer, forwarded) == client


@given(st.ip_addresses().map(str), st.text(max_size=60))
def test_without_proxies_of_ours_nobody_is_believed(peer: str, forwarded: str) -> None:
    assert Proxies(()).client(peer, forwarded) == peer
    client = Proxies(["0.0.0.0/0", "::/0"]).client(peer, forwarded)
    assert str(ip_address(client)) == client


@pytest.mark.parametrize("network", ["", "10.0.0.1/8", "localhost", "10.0.0.0/33"])
def test_what_is_no_network_is_refused(network: str) -> None:
    with pytest.raises(UsageError, match="trusted_proxies"):
        Proxies([network])


def test_a_database_is_read_inline_and_in_a_thread(tmp_path: Path) -> None:
    import anyio  # noqa: PLC0415 (for this test only)

    with Database.open(f"sqlite:///{tmp_path}/a.db") as database:

        def one(connection: object, more: int) -> int:
            return int(connection.exec_driver_sql("SELECT 1").scalar_one()) + more  # type: ignore[attr-defined]

        assert read_inline(database, one, 2) == 3
        assert read_inline(database, one, more=3) == 4
        assert anyio.run(lambda: read_in_thread(Threads(), database, one, 4)) == 5


def test_an_input_error_of_a_question_comes_through(tmp_path: Path) -> None:
    def refuse(_: object) -> None:
        raise InputError("book-unknown", "no")

    with Database.open(f"sqlite:///{tmp_path}/a.db") as database, pytest.raises(InputError):
        read_inline(database, refuse)
