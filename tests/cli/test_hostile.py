"""What strangers write into pins never reaches a terminal as anything but plain text."""

from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cli.terminal import is_plain, refold
from refold.agentpedia.vectors import read_vectors

PATH = "/protocols/agentpedia/"
FOUNDER = "E1"
PARAMS = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 21,
    "arbiterDrawN": 7,
    "rulingQuorum": 5,
    "voteWindowHours": 48,
    "stakeAmountSat": 100000,
    "ratePerSlugDaily": 5,
    "rateGlobalDaily": 20,
    "thetaProtect": 10,
    "thetaFeatured": 20,
    "featuredMinReviews": 3,
    "inlineContentMaxBytes": 16384,
    "t0DurationHours": 72,
    "t1MinValidRevs": 10,
    "t2MinDays": 14,
    "t2MinValidRevs": 100,
    "bootstrapWindowDays": 30,
}

RED = "\x1b[31m"
TITLE = "\x1b]0;owned\x07"
BACKWARDS = "\u202egnp.\u2066"
EIGHT_BIT = "\x9b31m"
MARKUP = "[bold red]x[/] [link=http://example.org]y[/link] :warning: \\"
hostile = [RED, TITLE, BACKWARDS, EIGHT_BIT, MARKUP, "\r\n", "\x7f", "a\tb", "x" * 5000, "字" * 500]
# What a pin may hold at all: no NUL, no lone surrogate.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


def event(pin: str, path: str, height: int, sender: str, payload: object) -> dict[str, Any]:
    place = {"height": height, "txIndex": 0}
    return {"pin": pin, "path": PATH + path, "sender": sender, "payload": payload, **place}


def stream_of(text: str) -> tuple[bytes, list[str]]:
    """Give a document in which a text stands everywhere it can, and the pins that hold it."""
    genesis = {
        "revision": 0,
        "founders": [FOUNDER, text],
        "params": PARAMS,
        "algoVersions": {"rulePack": text},
    }
    entry = {"lang": "en", "slug": text, "title": text, "contentHash": text}
    written = [
        event("g" + text, "constitution", 1, FOUNDER, genesis),
        event("c" + text, "rev", 2, FOUNDER, {**entry, "type": "create"}),
        event("d" + text, "rev", 3, FOUNDER, {**entry, "type": "create"}),
        event("e" + text, "rev", 4, text, {**entry, "type": "edit", "basedOn": text}),
        event("f" + text, "rev", 5, text, {**entry, "type": text}),
        event("h" + text, text, 6, text, {text: text}),
        event("k" + text, "challenge", 7, text, {"targetRev": "c" + text}),
        event("l" + text, "ruling", 8, text, {"action": "vote", "proposalPin": text}),
        event("m" + text, "editor", 9, text, {"action": "challenge", "editor": text}),
    ]
    return msgspec.json.encode({"events": written}), [e["pin"] for e in written]


def check_every_table(text: str) -> None:
    data, pins = stream_of(text)
    commands = [["replay", "-"], ["replay", "-", "--rules", "deployed"], ["diff", "-"], ["signals"]]
    for command in commands:
        answer = refold("agentpedia", *command, "--no-schema", stdin=data)
        assert answer.code in {0, 1}
        assert answer.err == ""
        assert is_plain(answer.out)
    unknown = {
        "revision": 0,
        "founders": [text],
        "params": PARAMS,
        "algoVersions": {"adoption": text},
    }
    alone = msgspec.json.encode({"events": [event("g" + text, "constitution", 1, text, unknown)]})
    answer = refold("agentpedia", "replay", "--no-schema", stdin=alone)
    assert "not authoritative" in answer.out
    assert is_plain(answer.out)
    for pin in pins:
        answer = refold("agentpedia", "explain", "--no-schema", "--", pin, "-", stdin=data)
        assert answer.code == 0
        assert answer.err == ""
        assert is_plain(answer.out)


@pytest.mark.parametrize("text", hostile, ids=range(len(hostile)))
def test_hostile_text_stays_text_in_every_table(text: str) -> None:
    check_every_table(text)


@given(texts)
@example("[/]")
@example("\\[")
def test_any_text_stays_text_in_every_table(text: str) -> None:
    check_every_table(text)


@pytest.mark.parametrize("text", [RED, TITLE, BACKWARDS, EIGHT_BIT, MARKUP])
def test_what_is_shown_is_what_was_written(text: str) -> None:
    """Escaped, never dropped or taken as markup: two different ids never look the same."""
    data, (genesis, *_) = stream_of(text)
    first = refold("agentpedia", "explain", "--no-schema", "--", genesis, "-", stdin=data).out
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in genesis
    )
    assert first.splitlines()[0] == f"applied  {shown}"


def test_an_id_of_a_megabyte_does_not_fill_the_terminal() -> None:
    data, pins = stream_of("Z" * 1_000_000)
    for command in (["replay", "-"], ["explain", pins[3], "-"]):
        answer = refold("agentpedia", *command, "--no-schema", stdin=data)
        assert answer.code == 0
        assert len(answer.out) < 20_000


@given(texts)
def test_the_words_of_a_vector_file_stay_text(text: str) -> None:
    vector = {"id": text, "title": text, "events": [], "expect": {"founders": text}}
    defaults = {
        "blocksPerHour": 6,
        "blocksPerDay": 144,
        "founders": [text],
        "arbiters": [],
        "params": PARAMS,
    }
    data = msgspec.json.encode(
        {"defaults": defaults, "vectors": [vector, {**vector, "expect": {}}]}
    )
    assert len(read_vectors(data).vectors) == 2
    answer = refold("agentpedia", "vectors", "-", stdin=data)
    assert answer.code == 1
    assert is_plain(answer.out)
    assert answer.last_line == "1/2 pipeline, 0/0 supplementary"


@pytest.mark.parametrize("text", hostile, ids=range(len(hostile)))
def test_hostile_text_stays_text_in_every_error(text: str) -> None:
    genesis = event(text, "rev", 1, FOUNDER, {})
    conflict = msgspec.json.encode({"events": [genesis, {**genesis, "height": 2}]})
    unknown_option = msgspec.json.encode({"events": [], "options": {text: text}})
    row = {"genesisHeight": 1, "id": text, "path": text, "txIndex": 0}
    for data in (conflict, unknown_option, msgspec.json.encode(row), text.encode()):
        answer = refold("agentpedia", "replay", stdin=data)
        assert answer.code == 3
        assert is_plain(answer.err)
        assert len(answer.err.splitlines()) == 1
    for arguments in ([text], ["agentpedia", text], ["agentpedia", "replay", "--rules", text]):
        answer = refold(*arguments)
        assert answer.code == 2
        assert is_plain(answer.err)
        assert len(answer.err.splitlines()) == 1
