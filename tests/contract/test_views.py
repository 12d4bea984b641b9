"""The stored view is the full view, whatever was folded, undone and folded again."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from contract.viewed import (
    Followed,
    Told,
    blocks_of,
    compare,
    digest_in,
    editor,
    entry,
    grave,
    version,
    world,
)
from reference.streams import MODES
from refold.agentpedia import PROFILES, Rules, Stream
from refold.agentpedia.changes import History, Step, Value
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.store import Writer, Written, open_views, tables, values, writer
from refold.agentpedia.store.rows import indexed
from refold.db import Database

ON_ONE_DATABASE = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples // 20,
)


@ON_ONE_DATABASE
@given(
    source=st.builds(world, st.integers(0, 5_000), st.sampled_from(MODES)),
    rules=st.sampled_from(list(PROFILES.values())),
    dice=st.randoms(use_true_random=False),
    batch=st.sampled_from([1, 7, 4_000]),
)
def test_after_any_blocks_and_roll_backs_it_is_the_full_view(
    database: Database, source: Stream, rules: Rules, dice: random.Random, batch: int
) -> None:
    wipe(database)
    blocks = blocks_of(source)
    followed = Followed(source, rules)
    at = looks = 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writer, "BATCH_ROWS", batch)
        patched.setattr(values, "CHUNK_ROWS", 3)
        while at < len(blocks):
            until = min(len(blocks), at + dice.randint(1, max(1, len(blocks) // 4)))
            for height, block in blocks[at:until]:
                # Now and then a pin is left out, as if another chain had it not.
                followed.take(height, [event for event in block if dice.random() < 0.97])
            at = until
            with database.write() as connection:
                views = open_views(connection)
                with views.writing() as told:
                    digest = followed.tell(told)
                    if dice.random() < 0.3:
                        digest = followed.tell(told)
            with database.read() as connection:
                views = open_views(connection)
                assert digest_in(views) == digest
                if at == len(blocks) or dice.random() < 0.15:
                    compare(views, followed.view())
                    lines = views.values.lines()
                    resumed = LiveDigest.resume(followed.fold, lines, followed.tip)
                    if dice.random() < 0.5:
                        followed.live = resumed
            looks += 1
            if looks < 8 and dice.random() < 0.4:
                back = dice.randrange(max(0, at - 6), at)
                below = blocks[back - 1][0] if back else blocks[0][0] - 1
                if below >= 0 and followed.fold.roll_back(below):
                    at, followed.tip = back, below + 1


@dataclass
class Wiki:
    """A small view of its own, in which names move from record to record."""

    entries: dict[str, tuple[int, str]] = field(default_factory=dict)
    histories: dict[int, list[str]] = field(default_factory=dict)
    editors: dict[str, int] = field(default_factory=dict)

    def steps(self, record: int) -> list[Step]:
        """Give a history; every third name is no version, but never the first."""
        return [
            Step(name, None if place % 3 == 2 else version(name, record))
            for place, name in enumerate(self.histories[record])
        ]

    def values(self) -> dict[tuple[str, str], Value]:
        """Give all values."""
        told = [
            entry(record, key, self.steps(record), status=status)
            for key, (record, status) in self.entries.items()
        ]
        told += [editor(name, tenths) for name, tenths in self.editors.items()]
        return {(value.section, value.key): value for value in told}

    def view(self) -> Told:
        """Give all values as the view has them."""
        return {name: value.value for name, value in self.values().items()}


NAMES = [f"pin{number}" for number in range(9)]
LONG = "en:" + "ü" * 3_000


@st.composite
def wikis(draw: st.DrawFn) -> Wiki:
    """Give a view whose names are dealt out to up to three records."""
    names = draw(st.permutations(NAMES))
    cuts = sorted(draw(st.lists(st.integers(1, len(names)), max_size=3, unique=True)))
    parts = [names[a:b] for a, b in zip([0, *cuts], cuts, strict=False)]
    numbers = draw(st.permutations(range(5)))
    histories = dict(zip(numbers, parts, strict=False))
    keys = ["en:a", "zh:b", "no-colon", LONG, LONG + "x"]
    owned = {
        key: (draw(st.sampled_from(sorted(histories))), draw(st.sampled_from(["normal", "frozen"])))
        for key in draw(st.sets(st.sampled_from(keys)))
        if histories
    }
    tenths = st.integers(-(10**12), 10**12)
    return Wiki(owned, histories, draw(st.dictionaries(st.sampled_from(["", "E1", LONG]), tenths)))


def tell(sink: Writer, old: Wiki, new: Wiki, dice: random.Random) -> None:
    """Tell what differs between two views: what goes, then values and histories in any order."""
    before, after = old.values(), new.values()
    for section, key in before:
        if (section, key) not in after:
            sink.drop(section, key)
    told: list[Value | History] = [v for name, v in after.items() if before.get(name) != v]
    for record in sorted({*old.histories, *new.histories}):
        was = old.steps(record) if record in old.histories else []
        now = new.steps(record) if record in new.histories else []
        same = [one == other for one, other in zip(was, now, strict=False)]
        kept = same.index(False) if False in same else len(same)
        if kept != len(was) or kept != len(now):
            told.append(History(record, kept, now[kept:]))
    dice.shuffle(told)
    for change in told:
        if isinstance(change, Value):
            sink.put(change)
        else:
            sink.history(change)


def compare_wiki(database: Database, wiki: Wiki) -> None:
    with database.read() as connection:
        views = open_views(connection)
        compare(views, wiki.view())
        reading = views.reading
        for record in range(5):
            names = wiki.histories.get(record, [])
            steps = reading.history(record, 99, newest_first=False).items
            assert [step.name for step in steps] == names
            owners = sorted(key for key, (owned, _) in wiki.entries.items() if owned == record)
            assert reading.keys_of(record) == owners
            for place, name in enumerate(names):
                found = reading.version(name)
                if place % 3 == 2:
                    assert found is None
                else:
                    assert found
                    assert (found.record, found.place, found.text_pin) == (record, place, name)


@ON_ONE_DATABASE
@given(
    wiki_line=st.lists(wikis(), min_size=2, max_size=5),
    dice=st.randoms(use_true_random=False),
    batch=st.sampled_from([1, 2, 5, 4_000]),
    in_one_writing=st.booleans(),
)
def test_names_that_move_between_histories_end_where_they_were_told(
    database: Database,
    wiki_line: list[Wiki],
    dice: random.Random,
    batch: int,
    in_one_writing: bool,
) -> None:
    """As after a roll-back, told in whatever order, and written in batches of whatever size."""
    wipe(database)
    told = [Wiki(), *wiki_line]
    pairs = list(pairwise(told))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writer, "BATCH_ROWS", batch)
        if in_one_writing:
            with database.write() as connection, open_views(connection).writing() as sink:
                for old, new in pairs:
                    tell(sink, old, new, dice)
        else:
            for old, new in pairs:
                with database.write() as connection, open_views(connection).writing() as sink:
                    tell(sink, old, new, dice)
                compare_wiki(database, new)
    compare_wiki(database, told[-1])


def test_forget_leaves_nothing_and_what_is_told_then_is_all(database: Database) -> None:
    old, new = Wiki(histories={0: ["a", "b"], 1: ["c"]}), Wiki(histories={0: ["c"]})
    old.entries, new.entries = {"en:a": (0, "normal"), "en:c": (1, "normal")}, {}
    with database.write() as connection, open_views(connection).writing() as sink:
        tell(sink, Wiki(), old, random.Random(1))
        sink.put_links("en:a", "b", ["en:c"])
    with database.write() as connection, open_views(connection).writing() as sink:
        sink.put(editor("E1", 1))
        sink.forget()
        tell(sink, Wiki(), new, random.Random(1))
    assert sink.written == Written(0, 2, 1, 3, 0, 1)
    compare_wiki(database, new)
    with database.read() as connection:
        assert open_views(connection).reading.backlinks("en:c", 9).items == []


def test_an_empty_store_has_nothing(database: Database) -> None:
    with database.read() as connection:
        views = open_views(connection)
        assert list(views.values.lines()) == []
        assert views.values.value("entry", "en:a") is None
        assert views.values.stored("fold", "fold") is None
        assert views.reading.version("a") is None


def test_a_failed_transaction_writes_nothing(database: Database) -> None:
    def fail() -> None:
        with database.write() as connection:
            with open_views(connection).writing() as sink:
                sink.put(editor("E1", 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    compare_wiki(database, Wiki())


def test_what_is_damaged_is_named(database: Database) -> None:
    """By `wrong`, which reads values and histories, not by the lines."""
    wiki = Wiki({"en:a": (0, "normal"), "en:b": (1, "frozen")}, {0: ["a"], 1: ["b"]}, {"E1": 5})
    with database.write() as connection, open_views(connection).writing() as sink:
        tell(sink, Wiki(), wiki, random.Random(1))
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE agentpedia_history SET height = 8 WHERE name = 'b'")
        other = b'{"id":"E1","reputation":6}'
        connection.execute(tables.editors.update().values(value=other))
    with database.read() as connection:
        wrong = [(line.section, line.key) for line in open_views(connection).values.wrong()]
    assert sorted(wrong) == [("editor", "E1"), ("entry", "en:b")]


def rows_for_one_edit(database: Database, entries: int, versions: int) -> Mapping[str, int]:
    """Give what an edit writes, by kind, on a base of so many entries."""
    wipe(database)
    wiki = Wiki(editors={"E1": 0})
    for record in range(entries):
        wiki.histories[record] = [f"{record}.{number}" for number in range(versions)]
        wiki.entries[f"en:{record}"] = (record, "normal")
    with database.write() as connection, open_views(connection).writing() as sink:
        tell(sink, Wiki(), wiki, random.Random(1))
    more = Wiki(dict(wiki.entries), dict(wiki.histories), {"E1": 1})
    more.histories[0] = [*wiki.histories[0], "new"]
    with database.write() as connection, open_views(connection).writing() as sink:
        tell(sink, wiki, more, random.Random(1))
    return {"values": sink.written.values_put, "all": sink.written.rows}


@pytest.mark.parametrize(("entries", "versions"), [(1, 3), (40, 3), (3, 300)])
def test_an_edit_writes_a_value_an_editor_and_a_step_whatever_the_base(
    database: Database, entries: int, versions: int
) -> None:
    assert rows_for_one_edit(database, entries, versions) == {"values": 2, "all": 3}


def test_graves_are_numbered_on_after_some_were_dropped(database: Database) -> None:
    def pins() -> list[str]:
        with database.read() as connection:
            page = open_views(connection).reading.graves(99)
            return [value.key for value in page.items]

    with database.write() as connection, open_views(connection).writing() as sink:
        for pin in "abcd":
            sink.put(grave(pin))
    with database.write() as connection, open_views(connection).writing() as sink:
        for pin in "cd":
            sink.drop("grave", pin)
        for pin in "dec":
            sink.put(grave(pin))
    assert pins() == ["c", "e", "d", "b", "a"]


def test_keys_that_no_index_takes_are_kept_whole(database: Database) -> None:
    """Under `deployed` nothing bounds them: PostgreSQL refuses 2.7 KB that do not compress."""
    dice = random.Random(5)
    long = "en:" + "".join(chr(dice.randrange(0x4E00, 0x9FFF)) for _ in range(16_000))
    steps = [Step("a", version("a", 0, author=long, title=long, entry_key=long))]
    told = [
        entry(0, long, steps),
        entry(0, long[:-1], steps),
        entry(0, long[:256], steps),
        editor(long, 3),
        editor(long[:-1], 4),
    ]
    with database.write() as connection, open_views(connection).writing() as sink:
        for value in told:
            sink.put(value)
        sink.history(History(0, 0, steps))
        sink.put_links(long, "a", [long, "en:b"])
    with database.read() as connection:
        views = open_views(connection)
        compare(views, {(value.section, value.key): value.value for value in told})
        [rev] = views.reading.revs_of(long, 9).items
        assert (rev.author, rev.title, rev.entry_key) == (long, long, long)
        assert views.reading.revs_of(long[:-1], 9).items == []
        assert [link.from_entry for link in views.reading.backlinks(long, 9).items] == [long]
        titles = [row.title for row in views.reading.entries("title", 9).items]
        assert titles == [long[:256]] * 3
    with database.write() as connection, open_views(connection).writing() as sink:
        sink.drop("entry", long)
    with database.read() as connection:
        views = open_views(connection)
        assert views.values.value("entry", long) is None
        assert views.values.value("entry", long[:-1])


def test_nobody_makes_a_key_that_meets_a_shortened_one(database: Database) -> None:
    long = "en:" + "x" * 400
    meant = indexed(long)
    told = [editor(long, 1), editor(meant, 2), editor(indexed(meant), 3)]
    with database.write() as connection, open_views(connection).writing() as sink:
        for value in told:
            sink.put(value)
    with database.read() as connection:
        compare(open_views(connection), {("editor", v.key): v.value for v in told})
