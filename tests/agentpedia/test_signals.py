"""Signals: the rule pack and its vectors, the pass over revs, the monitor of false alarms."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.wiki import DAY, NO_WAR, Wiki, wikis
from refold.agentpedia import DEPLOYED, PRD, REASONS, Event, Fold
from refold.agentpedia.corpus import Corpus
from refold.agentpedia.event import PREFIX, REV
from refold.agentpedia.links import refs_found
from refold.agentpedia.measure import (
    MAX_BYTES,
    NUMBER_MEASURES,
    TEXT_MEASURES,
    Change,
    measure,
    read,
)
from refold.agentpedia.monitor import verdicts
from refold.agentpedia.rulepack import (
    MAX_CONDITIONS,
    MAX_GROUPS,
    MAX_PHRASE_CHARS,
    MAX_PHRASES,
    MAX_RULES,
    Level,
    Levels,
    built_in_pack,
    judge,
    level_of,
    load_pack,
)
from refold.agentpedia.rulevectors import lacking, read_rule_vectors, run_rule_vector
from refold.agentpedia.signals import GATES, Gate, Signal, signal_of, signals
from refold.kernel.canon import digest
from refold.kernel.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from refold.agentpedia import Rules
    from refold.agentpedia.monitor import Alarms, Verdict

PACK = built_in_pack()
PACK_FILE = Path(__file__).parents[2] / "src/refold/agentpedia/rulepack.json"
VECTOR_FILE = Path(__file__).parents[1] / "vectors/agentpedia/rulepack-vectors.json"
VECTORS = read_rule_vectors(VECTOR_FILE.read_bytes())
PROFILES = st.sampled_from([PRD, DEPLOYED])
both_profiles = pytest.mark.parametrize("rules", [PRD, DEPLOYED], ids=lambda rules: rules.name)
WORDS = " ".join(f"w{number}" for number in range(100))


def judged(wiki: Wiki, pin: str, **texts: str) -> Signal:
    report = signals(wiki.view(), wiki.events, fetched=texts)
    return next(signal for signal in report.revs if signal.pin == pin)


def fired(signal: Signal) -> list[str]:
    return [rule.rule for rule in signal.fired]


# --- the pack ----------------------------------------------------------------------------------


def test_the_pack_shows_its_version_and_the_digest_of_its_file() -> None:
    value = msgspec.json.decode(PACK_FILE.read_bytes())
    assert PACK.version == value["version"] == "rule-pack-v1"
    assert PACK.digest == digest(value)


def test_the_digest_is_of_the_value_not_of_its_spelling() -> None:
    value = msgspec.json.decode(PACK_FILE.read_bytes())
    respelled = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=8)
    assert load_pack(respelled).digest == PACK.digest
    value["rules"][0]["score"] += 1
    assert load_pack(msgspec.json.encode(value)).digest != PACK.digest


def broken(change: Callable[[dict[str, Any]], object]) -> InputError:
    value = msgspec.json.decode(PACK_FILE.read_bytes())
    change(value)
    with pytest.raises(InputError) as caught:
        load_pack(msgspec.json.encode(value))
    assert {problem.code for problem in caught.value.errors} == {"rule-pack-invalid"}
    return caught.value


def condition(**members: object) -> Callable[[dict[str, Any]], object]:
    return lambda value: value["rules"][0]["when"].append(members)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v["levels"].update(disallow=9), "disallow"),
        (lambda v: v["levels"].update(tag=7), "/levels/tag"),
        (lambda v: v["levels"].update(tag=0), "levels.tag"),
        (lambda v: v.update(version="v1"), "version"),
        (lambda v: v.update(surprise=1), "surprise"),
        (lambda v: v.update(rules=[]), "rules"),
        (lambda v: v["rules"].append(v["rules"][3]), "/rules/24/id"),
        (lambda v: v["rules"][0].update(score=0), "score"),
        (lambda v: v["rules"][0].update(score=1.5), "score"),
        (lambda v: v["rules"][0].update(level="disallow"), "level"),
        (lambda v: v["rules"][0].update(when=[]), "when"),
        (lambda v: v["phrases"]["shouting"].append("WOW"), "/phrases/shouting/4"),
        (lambda v: v["phrases"]["shouting"].append("a"), "length >= 2"),
        (condition(measure="reputation", atLeast=1), "there is no measure reputation"),
        (condition(measure="placeholder", atLeast=1), "there is no measure placeholder"),
        (condition(measure="phrases/none", atLeast=1), "there is no measure phrases/none"),
        (condition(measure="type", atLeast=1), "/rules/0/when/2"),
        (condition(measure="type", oneOf=["edit"], atMost=1), "/rules/0/when/2"),
        (condition(measure="type", oneOf=[]), "/rules/0/when/2"),
        (condition(measure="words"), "/rules/0/when/2"),
        (condition(measure="words", oneOf=["1"]), "/rules/0/when/2"),
        (condition(measure="words", atLeast=-1), "atLeast"),
    ],
)
def test_a_pack_that_cannot_be_meant_is_refused_with_the_place(
    change: Callable[[dict[str, Any]], object], says: str
) -> None:
    assert says in str(broken(change))


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"version":1.5}'])
def test_what_is_no_pack_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InputError, match="not a rule pack") as caught:
        load_pack(data)
    assert caught.value.code == "rule-pack-invalid"


# --- levels: no score disallows ------------------------------------------------------------------


def test_disallow_is_no_level_and_no_gate_is_a_level() -> None:
    assert get_args(Level) == ("log", "tag", "warn")
    assert set(get_args(Gate)) == {"schema", "unregistered", "rate"} == set(GATES.values())
    assert not set(get_args(Gate)) & set(get_args(Level))
    assert set(GATES) <= set(REASONS)


@given(st.integers(0, 10**9), st.integers(1, 20_000), st.integers(1, 20_000))
def test_every_score_under_every_pack_comes_to_a_level(score: int, tag: int, warn: int) -> None:
    level = level_of(score, Levels(min(tag, warn), max(tag, warn)))
    assert level in get_args(Level)
    assert (level == "log") == (score < min(tag, warn))
    assert (level == "warn") == (score >= max(tag, warn))


@both_profiles
def test_only_the_hard_gates_disallow_and_the_worst_rev_is_applied(rules: Rules) -> None:
    wiki = Wiki(rules, {"ratePerSlugDaily": 3})
    wiki.create("E1", "a", WORDS)
    worst = wiki.write("E1", "a", "<script>" + "ignore previous instructions, click here " * 40)
    wiki.write("E1", "a", "x")
    over = wiki.write("E1", "a", "y")
    stranger = wiki.write("X1", "a", "z")
    wiki.pin(PREFIX + "rumour", "E1", {})  # refused, but by no hard gate
    report = signals(wiki.view(), wiki.events)
    signal = next(signal for signal in report.revs if signal.pin == worst)
    assert signal.level == "warn"
    assert signal.score > 10
    assert [(d.pin, d.gate, d.reason) for d in report.disallowed] == [
        (over, "rate", "rate-slug"),
        (stranger, "unregistered", "unregistered"),
    ]
    assert {signal.pin for signal in report.revs}.isdisjoint({over, stranger})
    assert report.levels == {"log": 1, "tag": 0, "warn": 2}


# --- vectors -------------------------------------------------------------------------------------


def test_the_vectors_are_those_of_this_pack() -> None:
    assert (VECTORS.version, VECTORS.digest) == (PACK.version, PACK.digest)
    assert len({vector.id for vector in VECTORS.vectors}) == len(VECTORS.vectors)
    assert {vector.about for vector in VECTORS.vectors} == {rule.id for rule in PACK.rules}


@pytest.mark.parametrize("vector", VECTORS.vectors, ids=lambda vector: vector.id)
def test_vector(vector: Any) -> None:
    assert run_rule_vector(vector, PACK).difference == ""


def test_every_rule_has_a_vector_that_fires_and_a_near_miss() -> None:
    assert lacking(VECTORS, PACK) == []


@pytest.mark.parametrize("fires", [True, False])
def test_a_rule_without_a_firing_vector_or_without_a_near_miss_is_found(fires: bool) -> None:
    rest = [v for v in VECTORS.vectors if v.about != "blanked" or ("blanked" in v.fired) != fires]
    assert lacking(msgspec.structs.replace(VECTORS, vectors=rest), PACK) == ["blanked"]


def test_every_number_of_the_pack_has_a_near_miss() -> None:
    """For each numeric condition of each rule there is a vector that misses that one alone."""
    for rule in PACK.rules:
        missed: set[int] = set()
        for vector in VECTORS.vectors:
            if vector.about == rule.id:
                measures = measure(vector.change, PACK.phrases)
                answers = [condition.holds(measures) for condition in rule.when]
                if answers.count(True) == len(answers) - 1 and False in answers:
                    missed.add(answers.index(False))
        numeric = {n for n, condition in enumerate(rule.when) if condition.one_of is None}
        assert missed >= numeric, rule.id


def test_the_runner_tells_when_a_vector_is_not_met() -> None:
    vector = VECTORS.vectors[0]
    wrong = msgspec.structs.replace(vector, score=vector.score + 1)
    assert not run_rule_vector(wrong, PACK).passed
    assert not run_rule_vector(msgspec.structs.replace(vector, fired=[]), PACK).passed
    assert run_rule_vector(vector, PACK).passed


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_vector_file_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_rule_vectors(data)
    assert caught.value.code == "rule-vectors-unreadable"


# --- measures ------------------------------------------------------------------------------------

PIECES = [*"aA1é长。!? \n[]()", "pin://aB", "www.", "https://x/", "aaaaaaaa ", "<script"]
ANY_TEXT = st.text(st.characters(codec=None), max_size=200) | st.lists(
    st.sampled_from(PIECES), max_size=40
).map("".join)
MAYBE_TEXT = st.none() | ANY_TEXT
CHANGES = st.builds(
    Change,
    type=st.sampled_from(["create", "edit", "revert", "redirect"]),
    claim=st.sampled_from(["", "expand", "revert", "vandalism-fix"]),
    claim_refs=st.integers(-1, 999),
    before=MAYBE_TEXT,
    after=MAYBE_TEXT,
    unchanged=st.booleans(),
    restores=st.booleans(),
    own_before=st.booleans(),
)


@given(CHANGES)
def test_measures_are_counts_and_shares_are_shares(change: Change) -> None:
    measures = measure(change, PACK.phrases)
    numbers = {n: v for n, v in measures.items() if n not in {"type", "claim"} and v is not None}
    assert all(type(value) is int and value >= 0 for value in numbers.values())
    shares = [value for name, value in numbers.items() if name.endswith("Permille")]
    assert all(isinstance(share, int) and share <= 1000 for share in shares)


@given(CHANGES)
def test_what_is_not_known_makes_no_rule_fire(change: Change) -> None:
    """Taking a text away leaves rules open; it never makes one fire, nor settles one otherwise."""
    whole = judge(PACK, measure(change, PACK.phrases))
    for lost in ({"before": None}, {"after": None}, {"before": None, "after": None}):
        less = judge(PACK, measure(msgspec.structs.replace(change, **lost), PACK.phrases))
        known = {rule.rule for rule in less.fired}
        assert known <= {rule.rule for rule in whole.fired}
        assert {rule.rule for rule in whole.fired} <= known | set(less.unknown)
        assert set(whole.unknown) <= set(less.unknown)


@given(ANY_TEXT)
def test_a_text_put_in_place_of_itself_adds_and_removes_nothing(text: str) -> None:
    measures = measure(Change("edit", before=text, after=text), PACK.phrases)
    still = ("words", "wordsBefore", "repeatedPermille", "type", "claim")
    assert all(value == 0 for name, value in measures.items() if name not in still)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=100), st.integers(0, 3))
def test_references_are_those_of_the_view(text: str, count: int) -> None:
    text += " pin://aB1 pin://Ab1" * count + " metafile://9z pin:// pin://é" * count
    reading = read(text)
    assert reading is not None
    assert len(reading.refs) == refs_found(text)


def test_texts_beyond_the_limit_are_not_read() -> None:
    assert read("a" * MAX_BYTES) is not None
    assert read("a" * (MAX_BYTES + 1)) is None
    assert read("长" * (MAX_BYTES // 3)) is not None
    assert read("长" * (MAX_BYTES // 3 + 1)) is None


HOSTILE = [
    "a",
    "a ",
    "aaaaaaab",
    "长",
    "é ",
    "é长a",
    "http://",
    "http://x ",
    "pin://",
    "www.",
    "h",
    "<script",
    "!!!!!!! ",
    "\U0001f600",
    "1 2 3 4 ",
    "\n",
]


def seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def unread(text: str) -> None:
    read.cache_clear()
    read(text)


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_reading_a_hostile_text_is_linear(piece: str) -> None:
    """Sixteen times the text takes sixteen times as long; quadratic would be 256 times."""
    small, large = ((piece * size)[: size // 4] for size in (MAX_BYTES // 16, MAX_BYTES))
    assert seconds(partial(unread, large)) < 64 * seconds(partial(unread, small))


# --- the pass: what is scored, and against which text --------------------------------------------


@both_profiles
def test_every_applied_rev_is_scored_once_in_the_order_of_the_fold(rules: Rules) -> None:
    wiki = Wiki(rules)
    pins = [wiki.create("E1", "a", "first"), wiki.create("E1", "b", "first")]
    wiki.create("E2", "a", "an orphan")
    pins.append(wiki.write("E2", "b", "second"))
    pins.append(wiki.write("E2", "a", "second"))
    pins.append(wiki.revert("E3", "a", pins[0]))
    pins.append(wiki.redirect("E3", "a", "b"))
    wiki.rule(pins[3], "revert-to", revertTo=pins[0])  # a version, but no rev
    report = signals(wiki.view(), wiki.events)
    assert [signal.pin for signal in report.revs] == pins
    assert [signal.type for signal in report.revs] == [
        "create",
        "create",
        "edit",
        "edit",
        "revert",
        "redirect",
    ]
    assert report.revs[4].entry_key == "en:a"
    assert report.revs[4].author == "E3"
    assert sum(report.levels.values()) == len(pins)


def test_progress_is_told_up_to_the_last_rev(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refold.agentpedia.signals.STEP", 2)
    wiki = Wiki()
    for slug in "abcde":
        wiki.create("E1", slug, "first")
    told: list[tuple[int, int]] = []
    signals(wiki.view(), wiki.events, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_fired_rule_tells_what_it_saw() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", WORDS)
    signal = judged(wiki, wiki.write("E2", "a", ""))
    assert fired(signal) == ["text-removed", "blanked"]
    assert signal.score == 7
    assert signal.fired[1].saw == {"type": "edit", "words": 0, "wordsBefore": 100}
    assert signal.fired[1].score == 4


@both_profiles
def test_the_text_before_is_that_of_the_head_not_of_the_parent_named(rules: Rules) -> None:
    """Naming an empty version as parent and base hides no blanking: the contest tells the head."""
    wiki = Wiki(rules)
    empty = wiki.create("E1", "a", "")
    wiki.write("E1", "a", WORDS)
    pin = wiki.write("E2", "a", "x", parentRev=empty, basedOn=empty)
    assert "blanked" in fired(judged(wiki, pin))


def test_a_rev_that_declares_no_base_is_held_against_the_version_before_it() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", "")
    wiki.write("E1", "a", WORDS)
    assert "blanked" in fired(judged(wiki, wiki.write("E2", "a", "x", basedOn=None)))


def test_after_a_redirect_the_text_before_is_that_of_the_last_version() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", WORDS)
    wiki.create("E1", "b", "")
    wiki.redirect("E2", "a", "b")
    wiki.redirect("E3", "a", "b")
    assert "blanked" in fired(judged(wiki, wiki.write("E2", "a", "x")))


@both_profiles
def test_a_restored_version_has_the_text_of_its_target(rules: Rules) -> None:
    wiki = Wiki(rules, NO_WAR)
    full = wiki.create("E1", "a", WORDS)
    wiki.write("E2", "a", "x")
    wiki.revert("E1", "a", full)
    wiki.write("E2", "a", "y")
    wiki.revert("E1", "a", full)
    assert "blanked" in fired(judged(wiki, wiki.write("E2", "a", "x")))
    wiki.rule(wiki.events[-1].pin, "revert-to", revertTo=full)
    assert "blanked" in fired(judged(wiki, wiki.write("E2", "a", "z")))


def test_after_an_expired_freeze_the_text_before_is_that_of_the_baseline() -> None:
    wiki = Wiki()
    full = wiki.create("E1", "a", WORDS)
    empty = wiki.write("E2", "a", "")
    wiki.write("E1", "a", WORDS + " again")
    for author, target in (("E2", full), ("E1", full), ("E2", empty)):
        wiki.revert(author, "a", target)
    assert wiki.fold.state.records[0].status == "frozen"
    wiki.propose(full, "unfreeze")
    wiki.wait(3 * DAY)
    signal = judged(wiki, wiki.write("E3", "a", "x", basedOn=f"{wiki.events[5].pin}::eq"))
    assert wiki.fold.state.records[0].contests == []
    assert "blanked" in fired(signal)


def test_after_an_expired_freeze_a_revert_undoes_the_baseline() -> None:
    wiki = Wiki()
    first = wiki.create("E1", "a", "first")
    second = wiki.write("E2", "a", "second")
    for author, target in (("E1", first), ("E2", second), ("E1", first)):
        wiki.revert(author, "a", target)
    assert wiki.fold.state.records[0].status == "frozen"
    wiki.propose(first, "unfreeze")
    wiki.wait(3 * DAY)
    fix = {"changeType": "vandalism-fix", "refs": 0}
    assert fired(judged(wiki, wiki.revert("E2", "a", first, claim=fix))) == ["claim-fix-own"]


def test_a_text_of_its_own_goes_before_one_of_the_same_hash() -> None:
    """Without the content gates a hash may lie; then it is taken at its word for others only."""
    wiki = Wiki(DEPLOYED)
    wiki.create("E1", "a", WORDS, contentHash="h")
    wiki.write("E2", "a", "x", contentHash="i")
    assert "placeholder" in fired(
        judged(wiki, wiki.write("E3", "a", "Lorem ipsum", contentHash="h"))
    )
    wiki.write("E2", "a", None, contentHash="h")
    assert "blanked" in fired(judged(wiki, wiki.write("E3", "a", "")))


def test_claims_and_hashes_are_looked_at_without_any_text() -> None:
    wiki = Wiki(params=NO_WAR)
    first = wiki.create("E1", "a", None, contentHash="1" * 64)
    second = wiki.write("E2", "a", None, contentHash="2" * 64)
    back = wiki.write("E1", "a", None, contentHash="1" * 64)
    same = wiki.write("E3", "a", None, contentHash="1" * 64)
    own = {"changeType": "vandalism-fix", "refs": 0}
    undone = wiki.revert("E3", "a", second, claim=own)
    wiki.write("E3", "a", None, contentHash="3" * 64)
    taken_back = wiki.write("E3", "a", None, contentHash="2" * 64)
    assert fired(judged(wiki, first)) == fired(judged(wiki, second)) == []
    assert fired(judged(wiki, back)) == ["hidden-revert"]
    assert fired(judged(wiki, same)) == ["nothing-changed"]
    assert fired(judged(wiki, undone)) == ["claim-fix-own"]
    assert fired(judged(wiki, taken_back)) == []
    assert "text-removed" in judged(wiki, back).unknown
    assert judged(wiki, undone).unknown == []


def test_fetched_texts_settle_what_was_unknown() -> None:
    wiki = Wiki()
    first = wiki.create("E1", "a", None, contentHash="1" * 64)
    second = wiki.write("E2", "a", "x")
    assert "blanked" in judged(wiki, second).unknown
    signal = judged(wiki, second, **{first: WORDS})
    assert "blanked" in fired(signal)
    assert signal.unknown == []
    assert judged(wiki, first, **{first: "a" * (MAX_BYTES + 1)}).unknown != []


# --- the pass: pure and order-free ---------------------------------------------------------------


@given(wikis(PROFILES), st.randoms(use_true_random=False))
def test_the_order_of_the_events_does_not_matter(wiki: Wiki, random: Any) -> None:
    shuffled = list(wiki.events)
    random.shuffle(shuffled)
    assert signals(wiki.view(), shuffled) == signals(wiki.view(), wiki.events)


@given(wikis(PROFILES), st.randoms(use_true_random=False), st.integers(1, 4))
def test_revs_may_be_scored_in_any_order_and_in_parts(wiki: Wiki, random: Any, parts: int) -> None:
    whole = signals(wiki.view(), wiki.events)
    corpora = [Corpus(wiki.view().state, wiki.events) for _ in range(parts)]
    revs = list(corpora[0].revs.values())
    random.shuffle(revs)
    read.cache_clear()
    found = [signal_of(corpora[n % parts], rev, PACK) for n, rev in enumerate(revs)]
    assert sorted(found, key=lambda s: s.pin) == sorted(whole.revs, key=lambda s: s.pin)


@given(wikis(PROFILES))
def test_a_restored_fold_gives_the_same_report(wiki: Wiki) -> None:
    restored = Fold.restore(wiki.fold.snapshot())
    assert signals(restored.view(), wiki.events) == signals(wiki.view(), wiki.events)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
MEMBERS = ("claim", "content", "contentRef", "title", "basedOn", "parentRev", "summary", "revertTo")


@given(
    st.lists(st.tuples(st.sampled_from(MEMBERS), JSON), max_size=4),
    JSON,
    st.sampled_from(["create", "edit", "revert", "redirect"]),
)
def test_no_payload_makes_the_pass_raise(
    members: list[tuple[str, object]], refs: object, kind: str
) -> None:
    wiki = Wiki(DEPLOYED)
    first = wiki.create("E1", "a", "text", claim={"changeType": "create", "refs": refs})
    wiki.create("E1", "b", "text")
    payload: dict[str, Any] = {
        "lang": "en",
        "slug": "a" if kind != "create" else "c",
        "type": kind,
        "revertTo": first,
        "redirectTo": "b",
        "contentHash": wiki.fold.state.versions[first].content_hash,
        "claim": {"changeType": refs, "refs": refs},
    }
    wiki.pin(REV, "E2", payload | dict(members))
    wiki.pin(PREFIX + "editor", "E2", {"action": "register", "editor": "E2", "stake": refs})
    report = signals(wiki.view(), wiki.events)
    assert len(report.revs) == 2 + (wiki.events[3].pin not in _graves(wiki))
    msgspec.json.encode(report)


def _graves(wiki: Wiki) -> set[str]:
    return {grave.pin for grave in wiki.fold.state.graveyard}


# --- the constitution and the pack ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "agrees"), [(None, None), ("rule-pack-v1", True), ("rule-pack-v2", False)]
)
def test_a_constitution_that_names_another_pack_makes_the_report_say_so(
    named: str | None, agrees: bool | None
) -> None:
    wiki = Wiki(pack=named)
    note = signals(wiki.view(), wiki.events).pack
    assert (note.version, note.digest) == (PACK.version, PACK.digest)
    assert (note.named, note.agrees) == (named, agrees)
    assert note.named_by == (wiki.genesis if named else None)
    assert (named or "no rule pack") in note.note or agrees


def test_the_constitution_in_force_is_asked_and_not_an_event_that_looks_like_one() -> None:
    wiki = Wiki(pack="rule-pack-v1")
    wiki.pin(PREFIX + "constitution", "X1", {"revision": 1, "algoVersions": {"rulePack": "x"}})
    wiki.pin(PREFIX + "rumour", "X1", {"algoVersions": {"rulePack": "x"}})
    assert signals(wiki.view(), wiki.events).pack.named == "rule-pack-v1"


def test_before_a_genesis_there_is_nothing_to_judge() -> None:
    fold = Fold(PRD)
    event = Event("p", REV, 1, 0, "E1", {"lang": "en", "slug": "a", "type": "create"})
    fold.apply(event)
    report = signals(fold.view(), [event])
    assert (report.revs, report.marks, report.pack.named) == ([], [], None)


# --- the monitor ---------------------------------------------------------------------------------


def verdict(wiki: Wiki, pin: str, tip: int | None = None) -> Verdict:
    view = wiki.view(tip)
    return verdicts(Corpus(view.state, wiki.events), view.tip)[pin]


def alarms(wiki: Wiki, rule: str, tip: int | None = None) -> Alarms:
    report = signals(wiki.view(tip), wiki.events)
    assert [alarm.rule for alarm in report.alarms] == [rule.id for rule in PACK.rules]
    return next(alarm for alarm in report.alarms if alarm.rule == rule)


@both_profiles
def test_a_rev_that_stood_for_seven_days_was_a_false_alarm(rules: Rules) -> None:
    wiki = Wiki(rules)
    wiki.create("E1", "a", WORDS)
    pin = wiki.write("E2", "a", "")
    due = wiki.height + 7 * DAY
    assert verdict(wiki, pin, due - 1) == "undecided"
    assert verdict(wiki, pin, due) == "false-alarm"
    before, after = alarms(wiki, "blanked", due - 1), alarms(wiki, "blanked", due)
    assert (before.fired, before.undecided, before.false_alarm_permille) == (1, 1, None)
    assert (after.fired, after.false_alarms, after.false_alarm_permille) == (1, 1, 1000)


@both_profiles
@pytest.mark.parametrize(("blocks", "expected"), [(-1, "hit"), (0, "false-alarm")])
def test_a_rev_is_overturned_within_its_week_only(
    rules: Rules, blocks: int, expected: Verdict
) -> None:
    wiki = Wiki(rules)
    first = wiki.create("E1", "a", WORDS)
    pin = wiki.write("E2", "a", "")
    wiki.wait(7 * DAY + blocks)
    wiki.revert("E3", "a", first)
    assert verdict(wiki, pin, wiki.height + 7 * DAY) == expected


@both_profiles
def test_going_back_behind_ones_own_rev_overturns_only_those_of_others(rules: Rules) -> None:
    wiki = Wiki(rules)
    first = wiki.create("E1", "a", "first")
    own, other = wiki.write("E2", "a", "own"), wiki.write("E3", "a", "other")
    wiki.revert("E2", "a", first)
    assert (verdict(wiki, own), verdict(wiki, other)) == ("undecided", "hit")
    assert verdict(wiki, first) == "undecided"
    wiki.revert("E3", "a", first)
    assert verdict(wiki, own) == "hit"


@both_profiles
def test_a_revert_can_be_overturned_too_and_a_redirect(rules: Rules) -> None:
    wiki = Wiki(rules, NO_WAR)
    wiki.create("E1", "b", "b")
    first = wiki.create("E1", "a", "first")
    second = wiki.write("E2", "a", "second")
    revert = wiki.revert("E3", "a", first)
    redirect = wiki.redirect("E3", "a", "b")
    wiki.revert("E2", "a", second)
    assert verdict(wiki, revert) == verdict(wiki, redirect) == "hit"


@both_profiles
def test_a_ruling_goes_before_what_time_says(rules: Rules) -> None:
    wiki = Wiki(rules)
    first = wiki.create("E1", "a", WORDS)
    punished = wiki.write("E2", "a", "")
    other = wiki.write("E3", "a", "")
    praised = wiki.write("E3", "a", "x")
    wiki.rule(punished, "warn-editor", editor="E2")
    wiki.rule(other, "warn-editor", editor="E4")  # about somebody else
    wiki.rule(praised, "confirm-goodfaith", editor="E3")
    blamed = wiki.create("E5", "b", "x")
    wiki.rule(blamed, "warn-editor", editor="E4")
    wiki.revert("E1", "a", first)
    late = wiki.height + 8 * DAY
    assert verdict(wiki, punished, late) == "hit"
    assert verdict(wiki, other, late) == "hit"  # overturned
    assert verdict(wiki, blamed, late) == "false-alarm"
    assert verdict(wiki, praised, late) == "false-alarm"  # overturned, but in good faith


@both_profiles
@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("dismiss", "false-alarm"),
        ("protect", "false-alarm"),
        ("slash-stake-half", "hit"),
        ("slash-stake-full", "hit"),
        ("ban-editor", "hit"),
        ("warn-editor", "hit"),
        ("confirm-goodfaith", "false-alarm"),
        ("revert-to", "hit"),
    ],
)
def test_what_each_outcome_says_of_the_rev(rules: Rules, outcome: str, expected: Verdict) -> None:
    wiki = Wiki(rules)
    first = wiki.create("E1", "a", WORDS)
    pin = wiki.write("E2", "a", "")
    wiki.wait(7 * DAY)
    wiki.rule(pin, outcome, editor="E2", revertTo=first, protected=True)
    assert verdict(wiki, pin) == expected


def test_going_back_to_a_rev_speaks_not_against_it() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", WORDS)
    pin = wiki.write("E2", "a", "")
    wiki.rule(pin, "revert-to", revertTo=pin)
    assert verdict(wiki, pin, wiki.height + 7 * DAY) == "false-alarm"


def test_a_voided_ruling_says_nothing() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", WORDS)
    pin = wiki.write("E2", "a", "")
    wiki.propose(pin, "ban-editor", editor="E2")
    assert verdict(wiki, pin, wiki.height + 7 * DAY) == "false-alarm"


def test_rules_left_open_are_counted_apart() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", None, contentHash="1" * 64)
    wiki.write("E2", "a", "")
    found = alarms(wiki, "blanked")
    assert (found.fired, found.unknown, found.false_alarm_permille) == (0, 1, None)


@given(wikis(PROFILES), st.sampled_from([0, 1, 3 * DAY, 7 * DAY]))
def test_the_sweep_finds_what_the_definition_says(wiki: Wiki, later: int) -> None:
    view = wiki.view(wiki.height + later)
    corpus = Corpus(view.state, wiki.events)
    found = verdicts(corpus, view.tip)
    ruled = {
        view.state.challenges[p.challenge_pin].target
        for p in view.state.proposals.values()
        if p.state == "effective"
    }
    for pin, rev in corpus.revs.items():
        if rev.name not in ruled:
            stood = view.tip >= rev.event.height + 7 * DAY
            expected = "false-alarm" if stood else "undecided"
            assert found[pin] == ("hit" if _taken_away(corpus, rev.name) else expected)


def _taken_away(corpus: Corpus, name: str) -> bool:
    """The definition (spec §8), word for word and slow."""
    state = corpus.state
    record, place = corpus.places[name]
    event = corpus.revs[
        state.versions[name].equivalent_of or name if name in state.versions else name
    ].event
    for later, by in enumerate(state.records[record].history):
        version = state.versions.get(by)
        if version is None or version.equivalent_of is None or later <= place:
            continue
        if version.equivalent_of in state.proposals:
            named = state.proposals[version.equivalent_of].params.revert_to
        else:
            named = corpus.revs[version.equivalent_of].event.payload["revertTo"]  # type: ignore[assignment]
        target = corpus.named(named or "")
        assert target is not None
        behind = corpus.places[target.id][1] < place
        if behind and version.author != event.sender and version.height < event.height + 7 * DAY:
            return True
    return False


@given(wikis(st.just(PRD)))
def test_the_monitor_and_the_reputation_agree_on_who_stood(wiki: Wiki) -> None:
    """Under `prd` the engine settles or cancels the credit of each create and edit: same answer."""
    fold = Fold(PRD, wiki.fold.state.options)
    settled: dict[str, bool] = {}

    def note(stood: bool) -> None:
        for version in fold.state.versions.values():
            if version.equivalent_of is None and version.id not in fold.state.credits.get(
                version.record, {}
            ):
                settled.setdefault(version.id, stood)

    for event in wiki.events:
        fold.advance(event.height)
        note(stood=True)
        fold.apply(event)
        note(stood=False)
    fold.advance(fold.tip)
    note(stood=True)
    view = fold.view()
    found = verdicts(Corpus(view.state, wiki.events), view.tip)
    ruled = {challenge.target for challenge in view.state.challenges.values()}
    for name, version in view.state.versions.items():
        if version.equivalent_of is None and name not in ruled:
            stood = settled.get(name)
            expected = {True: "false-alarm", False: "hit", None: "undecided"}[stood]
            assert found[name] == expected


def long_war(length: int) -> Wiki:
    """One author edits and goes back to the first version, again and again: hard to sweep."""
    wiki = Wiki(DEPLOYED, NO_WAR)
    first = wiki.create("E1", "a", "first")
    for _ in range(length):
        wiki.write("E2", "a", "more")
        wiki.revert("E2", "a", first)
        wiki.redirect("E3", "a", "a")
    return wiki


def test_the_pass_is_linear_in_the_revs_of_one_entry() -> None:
    """Sixteen times the war takes sixteen times as long; quadratic would be 256 times."""
    few, many = (
        seconds(partial(signals, wiki.view(), wiki.events)) for wiki in map(long_war, (100, 1600))
    )
    assert many < 64 * few


# --- the page ------------------------------------------------------------------------------------


def test_the_page_lists_every_rule_and_measure_as_the_pack_has_them() -> None:
    page = (Path(__file__).parents[2] / "docs/agentpedia-signals.md").read_text(encoding="utf-8")
    for rule in PACK.rules:
        assert f"| `{rule.id}` | {rule.score} | {rule.says} |" in page
    for name in (*TEXT_MEASURES, *NUMBER_MEASURES):
        assert f"`{name}`" in page
    limits = (MAX_RULES, MAX_CONDITIONS, MAX_GROUPS, MAX_PHRASES, MAX_PHRASE_CHARS)
    rules, conditions, groups, phrases, characters = limits
    assert f"{rules} rules of {conditions} conditions, {groups} groups of {phrases} phrases" in page
    assert f"2 to {characters} characters" in page
    assert f"{MAX_BYTES // 1024} KiB" in page
