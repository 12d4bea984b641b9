"""The local chain with its indexer and its wallet, as one object.

    with Devnet() as net:                      # in memory; Devnet(path) for a file
        alice = net.key("alice")
        pin_id = net.pin(alice, "/protocols/simplenote", {"title": "…"})
        net.mine()
        with net.serve() as url:               # http://127.0.0.1:…
            ...

Methods may be called from several threads; they take turns.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Connection, select

from refold.kernel.errors import UsageError
from refold.metaid.devnet import chain, indexer, mempool, purse, reorg
from refold.metaid.devnet.chain import BlockInfo
from refold.metaid.devnet.clock import Clock, Simulated
from refold.metaid.devnet.faults import Faults, FaultPlan
from refold.metaid.devnet.files import chunk_payloads
from refold.metaid.devnet.mempool import Accepted
from refold.metaid.devnet.ordering import ORDERS, Order
from refold.metaid.devnet.quirks import Quirks, changed
from refold.metaid.devnet.rules import MAX_MEMPOOL_DEPTH
from refold.metaid.devnet.store import Store, get_meta, put_meta
from refold.metaid.devnet.truth import TruePin, true_pins
from refold.metaid.envelope import RawTuple, envelope_of
from refold.metaid.tx import Output
from refold.metaid.wallet import BuiltTx, Key, build_pin_tx
