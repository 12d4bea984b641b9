"""Pins that the suites of the store share: made up, small, each with an id of its own."""

from hashlib import sha256

import msgspec

from refold.metaid.pin import Pin

A, B = "https://a.example.test", "https://b.example.test"
"""Two indexers."""
REV = "/protocols/agentpedia/rev"
REVIEW = "/protocols/agentpedia/review"


def pin_id(number: int) -> str:
    """Give the id of a made-up pin; ids do not sort as their numbers do."""
    return f"{sha256(str(number).encode()).hexdigest()}i0"


def pin(number: int, height: int | None = 1, tx_index: int = 0, **changes: object) -> Pin:
    """Give a made-up pin at a place, with whatever else is asked for."""
    made = Pin(
        id=pin_id(number),
        path=REV,
        height=height,
        tx_index=tx_index,
        sender="idq1" + "q" * 38,
        operation="create",
        encryption="0",
        version="1.0",
        content_type="application/json",
        timestamp=1_790_000_000 + (height or 0) % 1000,
        body=f'{{"n":{number}}}'.encode(),
        address="1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3QU",
        chain="mvc",
    )
    return msgspec.structs.replace(made, **changes)
