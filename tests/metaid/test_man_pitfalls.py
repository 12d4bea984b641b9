"""The pitfalls of docs/pitfalls.md, staged on the local chain: the client meets each of them.

The names of the tests begin with the pitfall's number.
"""

import gzip
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from metaid.worlds import OTHER, PATH, World, populate, seen, settled, world
from refold.kernel.errors import InputError, SourceError
from refold.metaid.author import check_author, outputs_of
from refold.metaid.devnet import purse
from refold.metaid.envelope import new_tuple, pin_script
from refold.metaid.fileserver import FileServer
from refold.metaid.globalmetaid import globalmetaid_of
from refold.metaid.man.bodies import Bodies
from refold.metaid.man.client import MAX_SIZE, ManClient
from refold.metaid.man.follow import Follow
from refold.metaid.man.overlap import Place
from refold.metaid.man.report import WalkReport
from refold.metaid.man.walk import Walk
from refold.metaid.metafile import Metafiles
from refold.metaid.pin import REVOKED, Pin
from refold.metaid.tx import MVC_VERSION, Input, Output, Tx, serialize_tx
from refold.metaid.wallet import sign_tx


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with world() as made:
        made.ids = populate(made)
        yield made


@pytest.fixture
def here(shared: World) -> Iterator[World]:
    """Give a chain that no test changes, behind the indexer of April 2026."""
    shared.net.quirks("man-v2")
    yield shared
    shared.net.faults()


@pytest.fixture
def fresh() -> Iterator[World]:
    """Give an empty chain behind the same indexer, which does see reorganisations."""
    with world() as made:
        made.net.quirks("man-v2", ignores_reorgs=False)
        yield made


def kinds(report: WalkReport) -> set[str]:
    return {anomaly.kind for anomaly in report.anomalies}


def is_whole(here: World, pins: dict[str, Pin], report: WalkReport) -> bool:
    """Tell whether a walk got all that the chain has, and knows that it did."""
    return report.is_complete and seen(pins) == here.truth()


def known_places(pins: dict[str, Pin]) -> dict[str, Place]:
    return {
        pin.id: Place(pin.height, 0 if pin.height is None else pin.tx_index)
        for pin in pins.values()
    }


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


# --- paging and lists --------------------------------------------------------------------------


def test_01_a_size_above_100_becomes_20(here: World) -> None:
    asked = here.transport.get(f"{here.url}/api/pin/path/list?path={PATH}&size=200")
    assert len(json.loads(asked.body)["data"]["list"]) == 20
    pins, report = here.walk(size=MAX_SIZE)
    assert is_whole(here, pins, report)


def test_02_the_last_page_has_a_cursor_and_short_pages_are_no_end(here: World) -> None:
    here.net.quirks("man-v2", short_pages=60)
    pins, report = here.walk(size=8)
    assert is_whole(here, pins, report)
    assert "short-page" in kinds(report)
    assert report.end.reason == "exhausted"


def test_03_an_empty_list_is_null(here: World) -> None:
    answer = here.transport.get(f"{here.url}/api/pin/path/list?path=/protocols/none&size=100")
    assert json.loads(answer.body)["data"]["list"] is None
    report = _walked(here.man(), "/protocols/none")
    assert (report.pins, report.end.reason) == (0, "exhausted")


def _walked(man: ManClient, path: str) -> WalkReport:
    going = Walk(man, path)
    for _ in going:
        pass
    return going.report()


def test_04_the_total_is_stale(here: World) -> None:
    here.net.quirks("man-v2", total_lag=1_000)
    pins, report = here.walk()
    assert report.first_total is not None
    assert report.first_total < report.confirmed
    assert is_whole(here, pins, report)


def test_05_a_stored_cursor_leads_to_older_pins(fresh: World) -> None:
    populate(fresh, blocks=2)
    pins, _ = fresh.walk(size=4)
    cursor = fresh.man().page(PATH, size=4).next_cursor
    new = fresh.write(1, start=700)
    fresh.net.mine()
    behind = Walk(fresh.man(), PATH, cursor=cursor)
    assert not set(new) & {pin.id for page in behind for pin in page.pins}
    following = Follow(fresh.man(), PATH, known_places(pins).get, fresh.net.height)
    assert set(new) <= {pin.id for page in following for pin in page.pins}


def test_06_a_pin_of_the_mempool_is_not_done(fresh: World) -> None:
    (name,) = fresh.write(1)
    pins, _ = fresh.walk()
    assert pins[name].height is None
    fresh.net.mine()
    following = Follow(fresh.man(), PATH, known_places(pins).get, 0)
    list(following)
    (move,) = following.settle([]).changes.confirmed
    assert (move.id, move.after.height) == (name, fresh.net.height)


@pytest.mark.parametrize("profile", ["man-v2", "man-p2p"])
def test_07_a_pin_stands_in_two_pages_and_moves_between_them(fresh: World, profile: Any) -> None:
    fresh.net.quirks(profile, stale_keys=1_000, ignores_reorgs=False)
    fresh.write(12)
    going = Walk(fresh.man(), PATH, size=4)
    pins: dict[str, Pin] = {}
    for page in going:
        pins |= {pin.id: pin for pin in page.pins}
        if page.number == 2:
            fresh.net.mine()
    again = Walk(fresh.man(), PATH, size=4)
    pins |= {pin.id: pin for page in again for pin in page.pins}
    assert seen(pins) == fresh.truth()
    assert again.report().pins == 12


def test_09_a_page_may_weigh_more_than_one_reads(fresh: World) -> None:
    fresh.write(60)
    fresh.net.mine()
    with world(max_bytes=20_000) as narrow:
        man = ManClient(narrow.transport, fresh.url)
        report = _walked(man, PATH)
    assert (report.end.reason, report.end.code) == ("failed", "body-too-large")
    assert not report.is_complete
    pins, report = fresh.walk(size=MAX_SIZE)
    assert is_whole(fresh, pins, report)
    assert report.bytes > 100_000


# --- bodies ------------------------------------------------------------------------------------


def test_10_lists_leave_the_body_out(here: World) -> None:
    answer = here.transport.get(f"{here.url}/api/pin/path/list?path={PATH}&size=100")
    assert {row["contentBody"] for row in json.loads(answer.body)["data"]["list"]} == {""}
    pins, report = here.walk()
    assert is_whole(here, pins, report)


def test_11_a_cut_summary_is_no_body(here: World) -> None:
    here.net.quirks("man-p2p")
    pins, report = here.walk()
    assert is_whole(here, pins, report)
    assert max(len(pin.body) for pin in pins.values()) > 4_096


def test_12_a_body_that_was_lost_later_replaces_none(here: World) -> None:
    pins, _ = here.walk()
    here.net.quirks(metadata_only=100)
    following = Follow(here.man(), PATH, known_places(pins).get, 0)
    assert not any(page.pins for page in following)  # the caller's bodies stand
    report = following.settle([]).report
    assert (report.held, report.missing) == (len(pins), ())


@pytest.mark.parametrize("profile", ["v1", "man-p2p"])
def test_13_a_cut_falls_inside_a_letter(here: World, profile: Any) -> None:
    here.net.quirks(profile, cut_letters=True, mempool_rows=True)
    pins, report = here.walk(txs=True)
    assert report.is_complete
    assert settled(seen(pins)) == settled(here.truth())


@pytest.mark.parametrize("form", ["base64", "summary", "preview", "v1"])
def test_14_bodies_come_in_different_forms(here: World, form: str) -> None:
    """Bodies that were parsed already no known list sends; a scripted one does (test_manrows)."""
    here.net.quirks("man-v2", list_body=form)
    pins, report = here.walk()
    assert is_whole(here, pins, report)


def test_16_content_is_not_always_the_body(fresh: World) -> None:
    """An image in base64 gets a prefix, a film a page around it: chunks of a file suffer it."""
    alice = fresh.keys[0]
    data = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB" + b"A" * 32
    name = fresh.net.file(alice, data, chunk_bytes=32)
    chunk = fresh.net.pins("/file/_chunk") or fresh.net.waiting("/file/_chunk")
    assert fresh.man().content(chunk[0].id) != data[:32]
    fact = Metafiles(fresh.man()).resolve(f"metafile://{name}", digest(data))
    assert (fact.state, fact.chunks) == ("verified", 2)


def test_18_times_may_be_in_milliseconds(here: World) -> None:
    """Nothing is ordered or chosen by them."""
    here.net.quirks("man-v2", milliseconds=True)
    pins, report = here.walk()
    assert is_whole(here, pins, report)
    assert min(pin.timestamp for pin in pins.values()) > 10**12


# --- identity and state ------------------------------------------------------------------------


def test_19_anybody_may_modify_and_revoke(here: World) -> None:
    pins, report = here.walk()
    assert is_whole(here, pins, report)
    changed = pins[here.ids[0]]
    assert len(changed.history) == 3
    assert changed.content_type is None
    assert pins[here.ids[1]].status == REVOKED


def test_20_the_named_author_may_be_forged(fresh: World) -> None:
    """One satoshi to bob, and the row says bob; his key signed nothing."""
    net, (alice, bob, _) = fresh.net, fresh.keys
    net.fund(alice)
    with net.transaction() as connection:
        coin = purse.coins(connection, alice.script)[0]
    data = Output(0, pin_script(new_tuple("create", PATH, b"bob says")))
    change = Output(coin.output.value - 2_000, alice.script)
    outputs = (Output(1, bob.script), data, change)
    tx = sign_tx(Tx(MVC_VERSION, (Input(coin.outpoint, b""),), outputs), [coin.output], [alice])
    name = f"{net.send(serialize_tx(tx))}i0"
    net.mine()
    pins, _ = fresh.walk()
    claimed = pins[name].sender
    assert claimed == globalmetaid_of(bob.address)
    raw = fresh.txs().raw(name.partition("i")[0])
    parent = fresh.txs().raw(coin.outpoint.txid)
    assert raw is not None
    assert parent is not None
    assert check_author(raw, claimed, outputs_of([parent])).verdict == "unproven"
    honest = check_author(raw, globalmetaid_of(alice.address), outputs_of([parent]))
    assert honest.verdict == "proven"


def test_21_a_revoked_pin_says_so_and_a_confirmed_one_is_not_of_the_mempool(fresh: World) -> None:
    (name,) = fresh.write(1)
    fresh.net.pin(fresh.keys[1], f"@{name}", b"", "revoke")
    pins, report = fresh.walk()
    assert (pins[name].status, report.mempool) == (REVOKED, 1)
    fresh.net.mine()
    pins, report = fresh.walk()
    assert (pins[name].height, report.mempool) == (fresh.net.height, 0)


def test_22_a_pin_may_be_known_by_an_old_id(here: World) -> None:
    here.net.quirks("man-p2p")
    pin = here.net.pins(PATH)[0]
    alias = pin.pin.alias
    assert alias is not None
    with pytest.raises(SourceError) as caught:
        here.man().pin(alias)
    assert caught.value.code == "man-other-pin"
    assert pin.id in caught.value.message
    here.net.quirks("man-v2")
    assert here.man().pin(alias) is None


def test_23_a_missing_global_id_follows_from_the_address(here: World) -> None:
    here.net.quirks("man-v2", globalmetaid_missing=True)
    pins, report = here.walk()
    assert is_whole(here, pins, report)
    authors = {pin.id: pin.author for pin in here.net.pins(PATH)}
    assert {name: pins[name].sender for name in authors} == authors


# --- service -----------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["404", "zero", "code-100"])
def test_24_an_unknown_pin_has_three_answers(here: World, answer: str) -> None:
    here.net.quirks("man-v2", unknown_pin=answer)
    assert here.man().pin(f"{'0' * 64}i0") is None
    assert here.man().content(f"{'0' * 64}i0") is None


@pytest.mark.parametrize("fault", ["drop", "error_500", "error_502", "truncate", "empty"])
def test_25_a_server_that_falls_over_is_no_end_of_data(here: World, fault: str) -> None:
    going = Walk(here.man(), PATH, size=20)
    pins: dict[str, Pin] = {}
    for page in going:
        pins |= {pin.id: pin for pin in page.pins}
        here.net.faults(**{fault: 1.0})
    report = going.report()
    assert (report.end.reason, report.pages) == ("failed", 1)
    assert report.end.code
    here.net.faults()
    rest, report = here.walk(cursor=report.end.cursor)
    assert seen(pins | rest) == here.truth()


def test_26_an_indexer_that_reads_no_mempool_has_the_pins_later(fresh: World) -> None:
    fresh.net.quirks(mempool_unseen=True)
    names = fresh.write(3)
    pins, _ = fresh.walk()
    assert pins == {}
    assert fresh.man().pin(names[0]) is None  # "not there yet"
    fresh.net.mine()
    pins, report = fresh.walk()
    assert is_whole(fresh, pins, report)


def test_27_an_indexer_that_stands_still_shows_its_height(fresh: World) -> None:
    fresh.write(3)
    fresh.net.mine()
    fresh.net.quirks(stuck=True)
    stuck_at = fresh.net.height
    fresh.write(3, start=10)
    fresh.net.mine(5)
    pins, report = fresh.walk()
    assert report.heights == (stuck_at, stuck_at)
    below = {n: e for n, e in fresh.truth().items() if e[0] is not None and e[0] <= stuck_at}
    assert seen(pins) == below
    fresh.net.quirks(stuck=False)
    pins, report = fresh.walk()
    assert is_whole(fresh, pins, report)


def test_27_an_empty_answer_between_two_pages_is_asked_for_again(here: World) -> None:
    going = Walk(here.man(), PATH, size=20)
    pins: dict[str, Pin] = {}
    for page in going:
        pins |= {pin.id: pin for pin in page.pins}
        here.net.faults(empty=3)
    assert is_whole(here, pins, going.report())


def test_28_what_an_indexer_skipped_or_kept_wrongly_shows_when_it_reads_anew(fresh: World) -> None:
    """No client can see it before; a whole walk afterwards has it all."""
    fresh.net.quirks(ignores_reorgs=True, skip_every=3)
    populate(fresh, blocks=7)
    fresh.net.reorg(2, order="reversed")
    pins, _ = fresh.walk()
    assert settled(seen(pins)) != settled(fresh.truth())
    fresh.net.quirks(ignores_reorgs=False, skip_every=0)
    fresh.net.rescan()
    pins, report = fresh.walk()
    assert report.is_complete
    assert settled(seen(pins)) == settled(fresh.truth())


def test_29_a_file_is_read_from_its_pins_whatever_the_file_indexer_does(fresh: World) -> None:
    """An index before its chunks, hashes that nobody compared, a HEAD that says 404."""
    net, (alice, bob, _) = fresh.net, fresh.keys
    data = b"tides " * 100
    pieces = [data[:300], data[300:]]
    first = net.pin(bob, "/file/_chunk", gzip.compress(pieces[0], mtime=0))
    net.mine()
    late = "ab" * 32 + "i0"

    def index(second: str) -> str:
        chunks = zip(pieces, (first, second), strict=True)
        listed = [{"sha256": digest(piece), "pinId": name} for piece, name in chunks]
        whole = {"sha256": digest(data), "fileSize": float(len(data)), "chunkNumber": "2"}
        body = whole | {"chunkSize": 300, "chunkList": listed}
        return net.pin(alice, "/file/index", body, content_type="metafile/index")

    files = Metafiles(fresh.man())
    served = FileServer(fresh.transport, f"{fresh.url}/metafile-indexer")
    pending = index(late)
    fact = files.resolve(f"metafile://{pending}", digest(data))
    assert (fact.state, fact.reason, fact.detail) == ("unavailable", "chunk-unknown", late)
    status = served.status(pending)
    assert status is not None
    assert status.status == "pending"
    whole = index(net.pin(bob, "/file/_chunk", pieces[1]))
    assert files.resolve(f"metafile://{whole}", digest(data)).state == "verified"
    wrong = index(net.pin(bob, "/file/_chunk", b"!" * 300))
    assert served.content(wrong, max_bytes=1_000) == pieces[0] + b"!" * 300
    fact = files.resolve(f"metafile://{wrong}", digest(data))
    assert (fact.state, fact.reason) == ("mismatch", "chunk-differs")


def test_30_pins_that_lists_lack_may_have_a_detail(here: World) -> None:
    """A list cannot show what it leaves out; a total that is counted at once can give a hint."""
    here.net.quirks("man-v2", lost_rows=40, total_lag=0)
    pins, report = here.walk()
    lost = set(settled(here.truth())) - set(pins)
    assert lost
    assert {"total-above", "short-page"} <= kinds(report)
    assert all(here.man().pin(name) is not None for name in lost)


def test_32_success_without_a_body_is_named(here: World) -> None:
    here.net.quirks("man-p2p", metadata_only=40)
    pins, report = here.walk()
    assert report.missing
    assert {entry.code for entry in report.missing} == {"body-cut"}
    assert not report.is_complete
    assert set(pins) | {entry.id for entry in report.missing} == set(here.truth())
    pins, report = here.walk(txs=True)
    assert is_whole(here, pins, report)


def test_33_a_path_that_is_spelled_otherwise_is_refused(here: World) -> None:
    for path in (PATH.upper(), f"{PATH}/", "/protocols/a:b"):
        with pytest.raises(InputError) as caught:
            here.man().page(path)
        assert caught.value.code == "path-invalid"
    assert _walked(here.man(), OTHER).pins == 8


@pytest.mark.parametrize("prefix", ["both", "api", "bare"])
@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_34_routes_with_and_without_prefix(here: World, prefix: str, generation: Any) -> None:
    here.net.quirks("man-v2", prefix=prefix, generation=generation, mempool_rows=True)
    man = here.man()
    going = Walk(man, PATH, bodies=Bodies(man, here.txs()))
    pins = {pin.id: pin for page in going for pin in page.pins}
    assert going.report().is_complete
    assert settled(seen(pins)) == settled(here.truth())
    assert man.generation == generation


# --- the page ----------------------------------------------------------------------------------

TESTS = Path(__file__).parent
PAGE = TESTS.parents[1] / "docs" / "pitfalls.md"
ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`(?:(test_\w+\.py)::)?(test_\w+)`")


def test_every_pitfall_stands_on_the_page_once_and_in_order() -> None:
    numbers = [int(found[1]) for found in ROW.finditer(PAGE.read_text(encoding="utf-8"))]
    assert numbers == list(range(1, 36))


def test_every_test_that_the_page_names_is_there_and_every_test_here_is_named() -> None:
    named = set()
    for found in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        tests = [(name or Path(__file__).name, test) for name, test in NAMED.findall(found[3])]
        assert bool(tests) != found[3].startswith("Not staged: "), found[0]
        for file, test in tests:
            assert f"\ndef {test}(" in (TESTS / file).read_text(encoding="utf-8"), (file, test)
            if file == Path(__file__).name:
                assert test.startswith(f"test_{int(found[1]):02}_")
                named.add(test)
    here = re.findall(r"^def (test_\d\d_\w+)\(", Path(__file__).read_text("utf-8"), re.MULTILINE)
    assert named == set(here)
