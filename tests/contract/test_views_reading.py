"""Lists of the stored view: their order, and walks that end where they should, whoever writes."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from typing import Any

import pytest

from contract.viewed import Followed, Told, blocks_of, editor, entry, grave, version, world
from refold.agentpedia import Stream
from refold.agentpedia.changes import History, Step
from refold.agentpedia.state import State
from refold.agentpedia.store import Cursor, Link, Page, Reading, open_views
from refold.db import Database
from refold.kernel.errors import InputError

Walk = Callable[[Reading, int, Cursor | None], Page[Any]]

WALKS: dict[str, Walk] = {
    "updated": lambda r, n, after: r.entries("updated", n, after),
    "featured": lambda r, n, after: r.entries("featured", n, after),
    "title": lambda r, n, after: r.entries("title", n, after),
    "updated in en": lambda r, n, after: r.entries("updated", n, after, lang="en"),
    "featured in en": lambda r, n, after: r.entries("featured", n, after, lang="en"),
    "title in en": lambda r, n, after: r.entries("title", n, after, lang="en"),
    "history": lambda r, n, after: r.history(0, n, after),
    "history from the first": lambda r, n, after: r.history(0, n, after, newest_first=False),
    "revs of E1": lambda r, n, after: r.revs_of("E1", n, after),
    "editors": lambda r, n, after: r.editors(n, after),
    "proposals": lambda r, n, after: r.proposals(n, after),
    "effective ones": lambda r, n, after: r.proposals(n, after, state="effective"),
    "proposals on en:a": lambda r, n, after: r.proposals(n, after, entry_key="en:a"),
    "param proposals": lambda r, n, after: r.param_proposals(n, after),
    "voided ones": lambda r, n, after: r.param_proposals(n, after, state="voided"),
    "challenges": lambda r, n, after: r.challenges_of(0, n, after),
    "graves": lambda r, n, after: r.graves(n, after),
    "graves of a reason": lambda r, n, after: r.graves(n, after, reason="self-review"),
    "reviews": lambda r, n, after: r.section("review", n, after),
    "registers": lambda r, n, after: r.section("register", n, after),
    "constitutions": lambda r, n, after: r.section("constitution", n, after),
    "displaced": lambda r, n, after: r.section("displaced", n, after),
    "backlinks": lambda r, n, after: r.backlinks("en:a", n, after),
}
FITS: dict[str, Callable[[State], bool]] = {
    "mixed": lambda s: sum(g.reason == "self-review" for g in s.graveyard) > 1,
    "court": lambda s: (
        sum(p.entry_key == "en:a" for p in s.proposals.values()) > 1
        and sum(p.state == "effective" for p in s.proposals.values()) > 1
    ),
    "transfer": lambda s: any(not record.keys for record in s.records),
    "registry": lambda s: len(s.registers) > 1,
    "governance": lambda s: (
        len(s.constitutions) > 1 and any(p.state == "voided" for p in s.param_proposals.values())
    ),
}
"""What the stream of a mode must have, so that together they have something in every list."""


@cache
def source_of(mode: str) -> Stream:
    """Give the first stream of a mode that has what it must."""
    return next(source for seed in count() if fits(source := world(seed, mode), mode))


def fits(source: Stream, mode: str) -> bool:
    """Tell whether a stream has what one of its mode must have."""
    followed = Followed(source)
    for height, block in blocks_of(source):
        followed.take(height, block)
    followed.fold.advance(followed.tip)
    return FITS[mode](followed.fold.state)


def walked(database: Database, walk: Walk, limit: int) -> Iterator[object]:
    """Walk to the end, each page in a transaction of its own."""
    after = None
    while True:
        with database.read() as connection:
            page = walk(open_views(connection).reading, limit, after)
        assert len(page.items) <= limit
        yield from page.items
        after = page.cursor
        if after is None:
            return
        assert len(page.items) == limit


def store_block(database: Database, followed: Followed, links: bool = True) -> None:
    """Write what changed, and links between all entries."""
    with database.write() as connection, open_views(connection).writing() as sink:
        followed.tell(sink)
        for key in followed.fold.state.keys if links else ():
            sink.put_links(key, "rev", ["en:a", key])


def whole(database: Database, walk: Walk) -> list[Any]:
    return list(walked(database, walk, 10_000))


@pytest.fixture(params=FITS)
def followed(request: pytest.FixtureRequest) -> Followed:
    return Followed(source_of(request.param))


@pytest.mark.parametrize("followed", ["court", "transfer"], indirect=True)
def test_every_list_walks_completely_with_limit_1_while_others_write(
    database: Database, followed: Followed
) -> None:
    """What is there all the time and does not change is met once, and nothing twice but what moved.

    Between two pages a block is folded, or undone and folded again.
    """
    blocks = blocks_of(followed.source)
    half = len(blocks) // 2
    for height, block in blocks[:half]:
        followed.take(height, block)
    store_block(database, followed)
    at = half
    for name, walk in WALKS.items():
        before = whole(database, walk)
        met: list[Any] = []
        always = {repr(item) for item in before}
        for item in walked(database, walk, 1):
            met.append(item)
            if len(met) % 5 == 1:
                at = _write_more(database, followed, blocks, at)
                now = {repr(item) for item in whole(database, walk)}
                always &= now
        shown = [repr(item) for item in met]
        assert [item for item in always if shown.count(item) != 1] == [], name


def _write_more(database: Database, followed: Followed, blocks: list[Any], at: int) -> int:
    """Fold a block more, or go six back when there is none; give where it is then."""
    if at == len(blocks):
        at -= 6
        below = blocks[at - 1][0]
        assert followed.fold.roll_back(below)
        followed.tip = below + 1
    else:
        followed.take(*blocks[at])
        at += 1
    store_block(database, followed)
    return at


def test_every_list_is_that_of_the_view(database: Database, followed: Followed) -> None:
    for height, block in blocks_of(followed.source):
        followed.take(height, block)
    store_block(database, followed)
    view, state = followed.view(), followed.fold.state
    for name, right in expected(view, followed).items():
        at_once = [_name_of(item) for item in whole(database, WALKS[name])]
        assert at_once == right, name
        by_threes = [_name_of(item) for item in walked(database, WALKS[name], 3)]
        assert by_threes == right, name
    with database.read() as connection:
        views = open_views(connection)
        reading = views.reading
        for section in ("entry", "review", "grave", "constitution", "editor", "displaced"):
            assert reading.count(section) == sum(1 for name, _ in view if name == section)
        for version_ in state.versions.values():
            found = reading.version(version_.id)
            assert found
            assert (found.id, found.seq, found.content_ref, found.text_pin, found.record) == (
                version_.id,
                version_.seq,
                version_.content_ref,
                version_.text_pin,
                version_.record,
            )
            assert sorted(state.records[found.record].keys) == reading.keys_of(found.record)
            assert state.records[found.record].history[found.place] == found.id
        for alias, name in state.aliases.items():
            found = reading.version(alias)
            assert found
            assert found.id == name
        for pin, challenge in state.challenges.items():
            on = {p.pin for p in state.proposals.values() if p.challenge_pin == pin}
            assert {value.key for value in reading.proposals_on(pin)} == on
            index = state.versions[challenge.target].record
            assert pin in {value.key for value in reading.challenges_of(index, 999).items}
        for name in state.versions:
            about = sorted(pin for pin, r in state.reviews.items() if r.target == name)
            assert [value.key for value in reading.reviews_of(name, 999).items] == about


def _name_of(item: Any) -> str:
    for member in ("key", "name", "id", "from_entry"):
        if hasattr(item, member):
            return str(getattr(item, member))
    raise TypeError(item)


def expected(view: Told, followed: Followed) -> dict[str, list[str]]:
    """Give the order of lists, worked out of the view."""
    state = followed.fold.state
    entries: dict[str, Any] = {k: v for (section, k), v in view.items() if section == "entry"}
    editors: dict[str, Any] = {k: v for (section, k), v in view.items() if section == "editor"}
    proposals: dict[str, Any] = {k: v for (section, k), v in view.items() if section == "proposal"}

    def updated(key: str) -> tuple[int, str]:
        return (entries[key]["versions"][-1]["height"], key)

    def featured(key: str) -> tuple[bool, int, str]:
        return (entries[key]["quality"] == "featured", *updated(key))

    def title(key: str) -> tuple[str, str]:
        shown = entries[key]["displayHead"]
        titles = {v["id"]: v["title"] for v in entries[key]["versions"]}
        last = entries[key]["versions"][-1]["title"]
        return (titles.get(shown, last), key)

    def opened(pin: str) -> tuple[int, str]:
        return (proposals[pin]["openedAt"], pin)

    english = [key for key in entries if key.startswith("en:")]
    mine = [v for v in state.versions.values() if v.author == "E1"]
    places = {name: n for entry in state.records for n, name in enumerate(entry.history)}
    graves = [grave.pin for grave in state.graveyard]
    own = [grave.pin for grave in state.graveyard if grave.reason == "self-review"]
    return {
        "updated": sorted(entries, key=updated, reverse=True),
        "featured": sorted(entries, key=featured, reverse=True),
        "title": sorted(entries, key=title),
        "updated in en": sorted(english, key=updated, reverse=True),
        "title in en": sorted(english, key=title),
        "history": state.records[0].history[::-1] if state.records else [],
        "history from the first": state.records[0].history if state.records else [],
        "revs of E1": [
            v.id for v in sorted(mine, key=lambda v: (v.seq, v.record, places[v.id]), reverse=True)
        ],
        "editors": sorted(editors, key=lambda k: (editors[k]["reputation"], k), reverse=True),
        "proposals": sorted(proposals, key=opened, reverse=True),
        "effective ones": sorted(
            (pin for pin in proposals if proposals[pin]["state"] == "effective"),
            key=opened,
            reverse=True,
        ),
        "graves": graves[::-1],
        "graves of a reason": own[::-1],
        "reviews": sorted(state.reviews),
        "backlinks": sorted(entries) if entries else [],
    }


def test_the_streams_have_something_in_every_list(sqlite_url: str) -> None:
    """So that the tests above mean something."""
    some = set()
    with Database.open(sqlite_url) as database:
        for mode in FITS:
            followed = Followed(source_of(mode))
            for height, block in blocks_of(followed.source):
                followed.take(height, block)
            store_block(database, followed)
            some |= {name for name, walk in WALKS.items() if whole(database, walk)}
    assert WALKS.keys() - some == set()


@pytest.mark.parametrize(
    "after",
    [
        (),
        ("en:a",),
        (1,),
        (1, 2),
        ("1", "en:a"),
        (True, "en:a"),
        (1.0, "en:a"),
        (None, "en:a"),
        (1, None),
        (2**63, "en:a"),
        (-(2**64), "en:a"),
        (1, "a\0"),
        (1, "\ud800"),
        (1, "en:a", "more"),
    ],
)
def test_a_cursor_of_another_list_is_refused(database: Database, after: Any) -> None:
    with database.read() as connection, pytest.raises(InputError) as caught:
        open_views(connection).reading.entries("updated", 1, after)
    assert caught.value.code in {"cursor-invalid", "name-invalid"}


@pytest.mark.parametrize("name", ["\0", "a\0b", "\ud800", "a\udfff"])
def test_a_name_that_no_database_takes_is_refused_everywhere(database: Database, name: str) -> None:
    with database.read() as connection:
        views = open_views(connection)
        reading = views.reading
        asked: list[Callable[[], object]] = [
            partial(views.values.value, "entry", name),
            partial(views.values.stored, "editor", name),
            partial(reading.entries, "title", 1, lang=name),
            partial(reading.version, name),
            partial(reading.revs_of, name, 1),
            partial(reading.proposals, 1, state=name),
            partial(reading.proposals, 1, entry_key=name),
            partial(reading.proposals_on, name),
            partial(reading.param_proposals, 1, state=name),
            partial(reading.reviews_of, name, 1),
            partial(reading.graves, 1, reason=name),
            partial(reading.backlinks, name, 1),
        ]
        for ask in asked:
            with pytest.raises(InputError) as caught:
                ask()
            assert caught.value.code == "name-invalid"


def test_names_that_look_like_statements_or_patterns_are_names(database: Database) -> None:
    names = ["' OR 1=1 --", "%", "_", "\\", '"', "en:潮汐", "a\nb", "\x7f"]
    with database.write() as connection, open_views(connection).writing() as sink:
        for number, name in enumerate(names):
            sink.put(editor(name, number))
            steps = [Step(f"pin{number}", version(f"pin{number}", number, author=name))]
            sink.put(entry(number, name, steps))
            sink.history(History(number, 0, steps))
            sink.put(grave(name))
            sink.put_links(name, f"pin{number}", [name])
    with database.read() as connection:
        views = open_views(connection)
        for number, name in enumerate(names):
            assert views.values.value("editor", name) == {"id": name, "reputation": number}
            assert [rev.id for rev in views.reading.revs_of(name, 9).items] == [f"pin{number}"]
            assert [link.from_entry for link in views.reading.backlinks(name, 9).items] == [name]


def test_links_are_replaced_and_go_with_their_entry(database: Database) -> None:
    def to(key: str) -> list[Link]:
        with database.read() as connection:
            return list(open_views(connection).reading.backlinks(key, 9).items)

    def put(source: str, rev: str, *targets: str) -> None:
        with database.write() as connection, open_views(connection).writing() as sink:
            sink.put_links(source, rev, targets)

    with database.write() as connection, open_views(connection).writing() as sink:
        for number, key in enumerate(["en:a", "en:b"]):
            steps = [Step(f"pin{number}", version(f"pin{number}", number))]
            sink.put(entry(number, key, steps))
            sink.history(History(number, 0, steps))
    put("en:a", "1", "en:b", "en:b", "en:c")
    put("en:b", "2", "en:c")
    assert to("en:b") == [("en:a", "1")]
    assert to("en:c") == [("en:a", "1"), ("en:b", "2")]
    put("en:a", "3", "en:c")
    assert to("en:b") == []
    assert to("en:c") == [("en:a", "3"), ("en:b", "2")]
    put("en:a", "4")
    assert to("en:c") == [("en:b", "2")]
    with database.write() as connection, open_views(connection).writing() as sink:
        sink.put_links("en:b", "5", ["en:c", "en:a"])
        sink.drop("entry", "en:b")
    assert (to("en:c"), to("en:a")) == ([], [])


def test_a_redirect_shows_the_title_of_the_version_before(database: Database) -> None:
    steps = [Step("a", version("a", 0, title="Tide", height=5)), Step("redirect", None)]
    with database.write() as connection, open_views(connection).writing() as sink:
        sink.put(entry(0, "en:tide", steps))
        sink.history(History(0, 0, steps))
    with database.read() as connection:
        reading = open_views(connection).reading
        [row] = reading.entries("updated", 9).items
        assert (row.title, row.head, row.display_head, row.updated) == (
            "Tide",
            "redirect",
            "redirect",
            5,
        )
        assert reading.version("redirect") is None
        assert [step.name for step in reading.history(0, 9).items] == ["redirect", "a"]
