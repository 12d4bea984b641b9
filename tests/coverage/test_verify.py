"""The verifier as one function: any bytes, any answers, and the sources of a consensus."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.sources import Scripted, answer, items, to
from coverage.receipts import PIN, VALID, changed, consensus, example, http_unit, sealed, source
from refold.coverage import Budgets, Report, result_hash, set_hash, verify
from refold.coverage.record import Match
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.kernel.canon import sha256_hex
from refold.kernel.errors import InputError

NOW = "2030-01-03T00:00:00Z"
IDS = set_hash(["1", "2", "3"])


def verified(record: Any, transport: Scripted, **options: Any) -> Report:
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    return verify(data, transport, NOW, **options)


def three(ask: Ask) -> Answer:
    """Answer as the source of the example, at any origin: two pages joined by a link."""
    last = ask.url.endswith("page=2")
    page = {"items": items(3) if last else items(1, 2)}
    return answer(ask.url, page, headers={} if last else to("/items?page=2"))


def three_rows() -> Scripted:
    return Scripted(three)


ROWS = st.sampled_from([{"id": 1, "name": "receipt"}, {"id": 2}, 3, None, "x"])
PINS = {"code": 1, "data": {"list": [{"id": PIN, "status": 0}], "nextCursor": ""}}
bodies = st.one_of(
    st.just(PINS),
    st.binary(max_size=30),
    st.lists(
        st.sampled_from([{"id": 1, "name": "receipt"}, {"id": 2}, 3, None, "x"]), max_size=4
    ).map(lambda rows: {"items": rows, "has_more": False}),
    st.just({"items": items(1, 2, 3)}),
)
answers = st.one_of(
    st.tuples(st.sampled_from([200, 200, 200, 204, 302, 404, 429, 500]), bodies),
    st.sampled_from(["too-slow", "connection-lost", "url-invalid", "no-such-code"]),
)


@given(
    kind=st.sampled_from(sorted(VALID)),
    given_=st.lists(answers, min_size=1, max_size=3),
    said=st.sampled_from(["", "", "nonsense", "https://other.test/x", "https://\x1b[31m"]),
)
def test_whatever_a_source_answers_there_is_a_report(
    kind: str, given_: list[Any], said: str
) -> None:
    """`said` is what answered in the end: a folder of answers may say anything."""

    def reply(ask: Ask) -> Answer | Failure:
        one = given_[len(transport.asks) % len(given_)]
        if isinstance(one, str):
            return Failure(ask.url, one, "no")
        whole = answer(said or ask.url, one[1], one[0])
        return msgspec.structs.replace(whole, mapped_to="http://127.0.0.1:1")

    transport = Scripted(reply)
    record = VALID[kind]()
    report = verified(record, transport, budgets=Budgets(record_requests=20), sources=True)
    assert report.judgement != "INVALID"
    if report.judgement == "VERIFIED":
        assert report.coverage == "FULL" or record["claim"] == "PRESENT"
    assert len(report.units) == len(record["corpus"]["units"])
    if "consensus" in record:
        assert len(report.sources) == len(record["consensus"]["sourceSet"])


def test_an_answer_that_says_it_is_from_nowhere_is_an_answer() -> None:
    whole = msgspec.structs.replace(answer("nonsense", PINS), mapped_to="http://127.0.0.1:1")
    report = verified(VALID["present"](), Scripted(lambda _ask: whole))
    assert report.judgement == "INCONCLUSIVE"
    assert report.origins == {"nonsense": "http://127.0.0.1:1"}


def test_what_is_not_valid_is_not_walked() -> None:
    transport = three_rows()
    for record in (b"", b"[]", changed(example(), "/result/matchCount", 2)):
        report = verified(record, transport)
        assert (report.judgement, report.coverage, report.basis) == ("INVALID", None, "NONE")
    report = verified(example() | {"v": "1.0.0"}, transport)
    assert (report.judgement, report.basis) == ("INCONCLUSIVE", "NONE")
    assert transport.asks == []


def test_a_moment_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="time"):
        verify(json.dumps(example()).encode(), three_rows(), "now")


def test_a_verified_receipt_tells_how() -> None:
    told: list[tuple[str, int]] = []
    report = verified(
        example(),
        three_rows(),
        origins={"https://api.example.test": "http://127.0.0.1:9"},
        progress=lambda unit, spent: told.append((unit, spent.pages)),
    )
    assert (report.judgement, report.coverage, report.basis) == ("VERIFIED", "FULL", "LIVE")
    assert report.origins == {"https://api.example.test": "http://127.0.0.1:9"}
    assert told[-1] == ("acme-list", 2)
    assert report.sources == ()


def at(operator: str, **members: Any) -> Any:
    return source(operator=operator, locator=f"https://{operator}.test", **members)


def rechecked(*sources: Any, mode: str, record: Any = None) -> list[tuple[str, str]]:
    base = record or example()
    base["consensus"] = consensus(*sources, mode=mode)["consensus"]
    transport = three_rows()
    report = verified(base, transport, sources=True)
    assert report.judgement != "INVALID", report.errors
    return [(one.operator, one.recheck) for one in report.sources]


def test_sources_are_read_at_their_own_origins() -> None:
    first = json.dumps({"items": items(1, 2)}).encode()
    none = result_hash([])
    assert rechecked(
        at("a", setDigest=IDS),
        at("b", setDigest="ee" * 32),
        at("c", digestFrame="MATCH_LIST", setDigest=none),
        at("d", digestFrame="MATCH_LIST", setDigest=result_hash([Match("1")])),
        at("e", digestFrame="RAW_BYTES", setDigest=sha256_hex(first)),
        at("f", outcome="UNREACHABLE", setDigest=""),
        source(operator="g", locator="local:copy", role="LOCAL_COPY", setDigest=IDS),
        mode="SPLIT",
    ) == [
        ("a", "MATCH"),
        ("b", "DRIFT"),
        ("c", "MATCH"),
        ("d", "DRIFT"),
        ("e", "DRIFT"),  # two pages are no single document
        ("f", "NOT_RECHECKABLE"),
        ("g", "NOT_RECHECKABLE"),
    ]


def test_the_walk_over_the_record_serves_for_its_own_source() -> None:
    record = example()
    record["consensus"] = consensus(
        source(operator="own", locator="https://API.example.test/", setDigest=IDS), mode="SINGLE"
    )["consensus"]
    transport = three_rows()
    report = verified(record, transport, sources=True)
    assert [one.recheck for one in report.sources] == ["MATCH"]
    assert len(transport.asks) == 3


def test_a_source_that_is_not_there() -> None:
    def reply(ask: Ask) -> Answer | Failure:
        gone = ask.url.startswith("https://gone.test")
        return Failure(ask.url, "connect-failed", "nobody") if gone else three(ask)

    record = example()
    record["consensus"] = consensus(at("gone", setDigest=IDS), mode="SINGLE")["consensus"]
    report = verified(record, Scripted(reply), sources=True)
    [told] = report.sources
    assert (told.recheck, told.why) == ("UNREACHABLE", "nobody")
    assert report.judgement == "VERIFIED"


def test_seen_sets_of_several_units_are_not_compared() -> None:
    record = example()
    record["corpus"]["units"] = [http_unit("one"), http_unit("two")]
    sealed(record)
    found = rechecked(
        at("a", setDigest=IDS),
        at("b", digestFrame="MATCH_LIST", setDigest=result_hash([])),
        mode="INCOMPARABLE",
        record=record,
    )
    assert found == [("a", "NOT_RECHECKABLE"), ("b", "MATCH")]


def test_sources_share_the_budgets_of_the_record() -> None:
    record = example()
    record["consensus"] = consensus(*(at(name, setDigest=IDS) for name in "abcdef"), mode="AGREE")[
        "consensus"
    ]
    transport = three_rows()
    report = verified(record, transport, sources=True, budgets=Budgets(record_requests=7))
    assert len(transport.asks) == 7
    assert [one.recheck for one in report.sources].count("UNREACHABLE") >= 4
