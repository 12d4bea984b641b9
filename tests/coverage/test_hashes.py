"""Hashes: the vectors of spec §5.4, and RFC 8785 by another library."""

import hashlib
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from coverage.receipts import VALID, example
from refold.coverage.hashes import EMPTY_SET, query_hash, receipt_hash, result_hash, set_hash
from refold.coverage.record import Match, receipt_of

FOLDED = {
    "caseFold": True,
    "match": {
        "all": [
            {"field": "full_name", "op": "contains", "value": "reçu"},
            {"not": {"field": "archived", "op": "eq", "value": True}},
        ]
    },
}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_vectors() -> None:
    empty = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    assert empty == EMPTY_SET == result_hash([]) == set_hash([])
    path = {"match": {"field": "doc.path", "op": "eq", "value": "/protocols/example"}}
    assert query_hash(path) == "98bb5879a4a1ec76f4209086166281a3139a320994f93c6a9173490352ccd1d3"
    assert query_hash(FOLDED) == "703d7443a1bc24970c77a64a56ba418722d64d38169399370b3ab4e27a505957"
    both = [Match("acme/one"), Match("acme/two")]
    assert result_hash(both) == "63c5f34eb1c8dc9aa1b0f96b1f1874fbc440250bb5e0a30d9b714b939d688ad3"
    two = "0473ef2dc0d324ab659d3580c1134e9d812035905c4781fdd6d529b0c6860e13"
    assert set_hash(["b", "a"]) == set_hash(["a", "b", "a"]) == two


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (json.dumps(FOLDED, sort_keys=True, separators=(",", ":")), query_hash(FOLDED)),
        (json.dumps(FOLDED, sort_keys=True, ensure_ascii=False), query_hash(FOLDED)),
        (
            json.dumps(dict(reversed(FOLDED.items())), ensure_ascii=False, separators=(",", ":")),
            query_hash(FOLDED),
        ),
        ('["b","a"]', set_hash(["b", "a"])),
        ('[{"id":"acme/one","note":"x"}]', result_hash([Match("acme/one")])),
        ('[{"digest":null,"id":"acme/one"}]', result_hash([Match("acme/one")])),
    ],
)
def test_the_negative_vectors(wrong: str, right: str) -> None:
    assert sha(wrong) != right


def test_the_appendix() -> None:
    record = example()
    assert query_hash(record["query"]["canon"]) == record["query"]["queryHash"]
    assert set_hash(["1", "2", "3"]) == record["corpus"]["units"][0]["boundary"]["endMarker"]
    assert result_hash(receipt_of(record).result.matches) == record["result"]["resultHash"]
    whole = "408db5dd37415710a2e7c99104373be5c49759533b82ab5426f84852688c7244"
    assert receipt_hash(record) == whole


@pytest.mark.parametrize("name", VALID)
def test_another_library_hashes_alike(name: str) -> None:
    record: Any = VALID[name]()
    assert hashlib.sha256(rfc8785.dumps(record)).hexdigest() == receipt_hash(record)
    canon = record["query"]["canon"]
    assert hashlib.sha256(rfc8785.dumps(canon)).hexdigest() == query_hash(canon)


IDS = st.lists(st.text(st.characters(exclude_categories=["Cs"])))


@given(IDS)
def test_a_set_has_one_hash_in_any_order(ids: list[str]) -> None:
    assert set_hash(ids) == set_hash(reversed(ids)) == set_hash([*ids, *ids])
    assert set_hash(ids) == hashlib.sha256(rfc8785.dumps(sorted(set(ids)))).hexdigest()


@given(IDS)
def test_a_list_of_matches_has_one_for_each_order(ids: list[str]) -> None:
    matches = [Match(name) for name in ids]
    assert (result_hash(matches) == result_hash(matches[::-1])) == (ids == ids[::-1])
