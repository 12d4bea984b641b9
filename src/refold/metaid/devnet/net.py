"""The local chain with its indexer and its wallet, as one object.

    with Devnet() as net:                      # in memory; Devnet(path) for a file
        alice = net.key("alice")
        pin_id = net.pin(alice, "/protocols/simplenote", {"title": "Tides"})
        net.mine()
        with net.serve() as url:               # http://127.0.0.1:…
            ...

Methods may be called from several threads; they take turns. Every change is one transaction of the
file, so a process may be killed at any time.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Literal

import msgspec

from refold.metaid.devnet import files, purse
from refold.metaid.devnet.node import Node
from refold.metaid.envelope import RawTuple, new_tuple
from refold.metaid.tx import Output
from refold.metaid.wallet import BuiltTx, Key, build_pin_tx

FUNDS = 10_000_000
"""Satoshi that a key is given when it has to write and has too little: thousands of pins."""

Operation = Literal["create", "modify", "revoke"]
Payload = bytes | Mapping[str, object]
"""Bytes as they are, or what becomes JSON."""

_PIN_BYTES = 1_000
"""More than a transaction with a pin has besides its payload."""


class Devnet(Node):
    """A chain in a file, made when missing, or in memory for `path` None.

    `seed` (of keys and lots) and `base_height` (of the first block) stay with the file; give them
    again or not at all. `clock` tells the times of blocks. `max_depth` is how many unconfirmed
    transactions may stand one over the other. Raises `UsageError`: `devnet-in-use`, `devnet-file`,
    `devnet-settings`.
    """

    def key(self, name: str, secret: Key | None = None) -> Key:
        """Give the throw-away key of a name, made from the seed if new; `secret` brings one along.

        Raises `UsageError` `key-name` when the name has another key already.
        """
        with self.transaction() as connection:
            key = purse.find(connection, name) if secret is None else secret
            key = key or purse.throwaway_key(name, self.seed)
            purse.remember(connection, name, key)
            return key

    def fund(self, key: Key, satoshi: int = FUNDS) -> str:
        """Let the faucet pay to a key; give the txid. Raises `InputError` `funds-short`, `dust`."""
        with self.transaction() as connection:
            funds = purse.coins(connection, self._faucet.script)
            raw = purse.payment(self._faucet, [Output(satoshi, key.script)], funds)
            return self._accept(connection, raw).txid

    def pin(
        self,
        key: Key,
        path: str,
        payload: Payload = b"",
        operation: Operation = "create",
        *,
        version: str = "1.0",
        content_type: str = "application/json",
        encryption: str = "0",
    ) -> str:
        """Write a pin with the coins of a key, funded when short; give the pin id.

        Pins of a key go one after the other, each spending the change of the one before. Raises
        `InputError` as `new_tuple` and the node do.
        """
        body = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
        raw = new_tuple(
            operation,
            path,
            body,
            version=version,
            content_type=content_type,
            encryption=encryption,
        )
        return self.write(key, raw).pin.id

    def write(self, key: Key, raw: RawTuple, *, rate: int | Fraction = 1) -> BuiltTx:
        """Write any tuple, also one that no indexer lists; give the transaction."""
        pushed = sum(map(len, (raw.path, raw.content_type, *raw.payload)))
        need = int((_PIN_BYTES + 2 * pushed) * (rate + 1))
        with self.transaction() as connection:
            coins = purse.coins(connection, key.script)
            if sum(coin.output.value for coin in coins) < need:
                self.fund(key, max(FUNDS, need))
                coins = purse.coins(connection, key.script)
            built = build_pin_tx(key, raw, coins, rate=rate)
            self._accept(connection, built.raw)
            return built

    def file(
        self,
        key: Key,
        data: bytes,
        *,
        name: str = "",
        content_type: str = "application/octet-stream",
        chunk_bytes: int | None = None,
        compress: bool = False,
    ) -> str:
        """Pin a file, whole or in chunks of so many bytes with an index; give its pin id."""
        if chunk_bytes is None:
            return self.pin(key, files.FILE_PATH, data, content_type=content_type)
        chunks = []
        for chunk in files.cut(data, chunk_bytes, compress=compress):
            pin = self.pin(key, files.CHUNK_PATH, chunk.body, content_type=files.CHUNK_TYPE)
            chunks.append((chunk.sha256, pin))
        index = files.index_payload(
            data, chunks, chunk_bytes=chunk_bytes, name=name, data_type=content_type
        )
        return self.pin(key, files.INDEX_PATH, index, content_type=files.INDEX_TYPE)

    def serve(self, *, port: int = 0) -> AbstractContextManager[str]:
        """Serve on 127.0.0.1 while open; gives the base URL. Port 0 takes a free one."""
        from refold.metaid.devnet.server import serving  # noqa: PLC0415 (imports a web framework)

        return serving(self, port=port)
