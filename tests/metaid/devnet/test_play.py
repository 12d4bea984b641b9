"""Stories on the chain: every act at its height and by its author, under the ids of the chain."""

import json
from collections.abc import Mapping
from hashlib import sha256

import pytest

from metaid.devnet.served import LOG, NOTE, ids_of
from refold.kernel.errors import UsageError
from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.play import Act, Json, Placed, Player, play, rewritten
from refold.metaid.devnet.purse import throwaway_key

FIRST, SECOND, THIRD = (f"{digit * 64}i0" for digit in "abc")
ALICE = "idq1" + "q" * 38

STORY = (
    Act("alice", NOTE, {"n": 1}, 12, FIRST),
    Act("bob", NOTE, {"on": FIRST, "by": [ALICE, "ALICE"], "see": f"pin://{FIRST}, {SECOND}"}, 12),
    Act("alice", LOG, b"bytes stay " + FIRST.encode(), 12, SECOND),
    Act("alice", f"@{FIRST}", {"deep": [{"x": [f"({SECOND})"]}], FIRST: 1}, 15, THIRD, "modify"),
    Act("bob", NOTE, {"last": THIRD}, None),
)


def test_a_written_story_gets_the_ids_of_the_chain() -> None:
    with Devnet(base_height=10) as net:
        net.fund(net.key("alice"))
        net.fund(net.key("bob"))
        net.mine()
        real = play(net, STORY, same={ALICE: net.key("alice").globalmetaid})
        assert set(real) == {FIRST, SECOND, THIRD}
        pins = net.pins()
        assert [pin.height for pin in pins] == [12, 12, 12, 15]
        assert [pin.pin.tx_index for pin in pins] == [1, 2, 3, 1]
        assert [real[FIRST], real[SECOND], real[THIRD]] == [pins[n].id for n in (0, 2, 3)]
        assert json.loads(pins[1].body) == {
            "on": pins[0].id,
            "by": [net.key("alice").globalmetaid, "ALICE"],
            "see": f"pin://{pins[0].id}, {SECOND}",
        }, "what comes later has no id yet"
        assert pins[2].body == b"bytes stay " + FIRST.encode()
        assert pins[3].path == f"@{pins[0].id}"
        assert json.loads(pins[3].body) == {"deep": [{"x": [f"({pins[2].id})"]}], FIRST: 1}
        (waiting,) = net.waiting()
        assert json.loads(waiting.body) == {"last": pins[3].id}
        names = {net.key(name).globalmetaid: name for name in ("alice", "bob")}
        assert [names[pin.author] for pin in pins] == ["alice", "bob", "alice", "alice"]
        assert net.height == 15


def test_a_callback_makes_hashes_anew() -> None:
    def rehashed(payload: Json, real: Mapping[str, str]) -> Json:
        changed = rewritten(payload, real)
        text = changed.get("content")
        if isinstance(text, str):
            changed["contentHash"] = sha256(text.encode()).hexdigest()
        return changed

    story = (
        Act("a", NOTE, {"content": "one", "contentHash": "?"}, 1, FIRST),
        Act("a", NOTE, {"content": f"two, see pin://{FIRST}", "contentHash": "?"}, 2),
    )
    with Devnet() as net:
        play(net, story, rewrite=rehashed)
        one, two = (json.loads(pin.body) for pin in net.pins())
        assert two["content"] == f"two, see pin://{net.pins()[0].id}"
        for told in (one, two):
            assert told["contentHash"] == sha256(told["content"].encode()).hexdigest()


def test_a_live_story_knows_its_places_as_it_goes() -> None:
    with Devnet(base_height=10) as net:
        alice, bob = net.key("alice"), net.key("bob")
        player = Player(net)
        placed = [
            player.act(alice, NOTE, {"n": 1}, 11),
            player.act(bob, NOTE, {"n": 2}, 11),
            player.act(bob, NOTE, {"n": 3}, 14),
            player.act(alice, NOTE, {"n": 4}, 14),
        ]
        last = player.act(alice, NOTE, {"n": 5}, None)
        assert ids_of(net.waiting()) == [last.pin_id]
        assert placed == [Placed(p.id, p.height, p.pin.tx_index) for p in net.pins()]
        assert net.height == 14
        player.finish()
        assert net.height == 14, "what waits for good is not mined"


def test_no_act_comes_late() -> None:
    with Devnet(base_height=10) as net:
        alice, player = net.key("alice"), Player(net)
        player.act(alice, NOTE, {"n": 1}, 13)
        for height in (12, 10, 0):
            with pytest.raises(UsageError) as caught:
                player.act(alice, NOTE, {"n": 2}, height)
            assert caught.value.code == "act-late"
        player.act(alice, NOTE, {"n": 2}, 13)
        player.finish()
        assert [pin.height for pin in net.pins()] == [13, 13]


def test_keys_of_authors_may_be_brought_along() -> None:
    keys = {"alice": throwaway_key("alice", "a story of its own")}
    with Devnet() as net:
        play(net, [Act("alice", NOTE, {}, 1)], key_of=keys.__getitem__)
        assert net.pins()[0].author == keys["alice"].globalmetaid
