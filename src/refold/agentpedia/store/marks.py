"""How far the fold came, and digests by height: `interface.Marks`."""

import msgspec
from sqlalchemy import Connection, delete, select

from refold.agentpedia.store.model import Folded, KeptDigest
from refold.agentpedia.store.retention import DIGEST_BLOCKS, DIGEST_STEP
from refold.agentpedia.store.tables import digests, folded
from refold.db import put
from refold.metaid.store import Position

_DIGEST = tuple(digests.c[name] for name in KeptDigest.__struct_fields__)


class SqlMarks:
    """See `interface.Marks`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def folded(self) -> Folded | None:
        """Give how far the fold came."""
        row = self._connection.execute(select(folded)).mappings().first()
        if row is None:
            return None
        last = Position(row["event_height"], row["event_tx_index"], row["event_pin"])
        return Folded(row["rules"], row["options"], row["height"], last, row["digest"])

    def put_folded(self, came: Folded) -> None:
        """Note how far the fold came."""
        row = {
            "id": 1,
            "rules": came.rules,
            "options": came.options,
            "height": came.height,
            "event_height": came.last.height,
            "event_tx_index": came.last.tx_index,
            "event_pin": came.last.pin,
            "digest": came.digest,
        }
        put(self._connection, folded, [row])

    def forget_folded(self) -> None:
        """Take back how far the fold came, and all digests."""
        self._connection.execute(delete(folded))
        self._connection.execute(delete(digests))

    def put_digest(self, digest: KeptDigest) -> None:
        """Note the digest of a height."""
        put(self._connection, digests, [msgspec.structs.asdict(digest)])

    def digest(self, height: int) -> KeptDigest | None:
        """Give the digest of a height."""
        row = self._connection.execute(select(*_DIGEST).where(digests.c.height == height)).first()
        return None if row is None else KeptDigest(*row)

    def drop_digests(self, above: int) -> int:
        """Forget the digests above a height."""
        return self._connection.execute(delete(digests).where(digests.c.height > above)).rowcount

    def prune_digests(self, tip: int) -> int:
        """Forget the digests that are not kept at a tip."""
        heights = digests.c.height
        is_old = (heights <= tip - DIGEST_BLOCKS) & (heights % DIGEST_STEP != 0)
        return self._connection.execute(delete(digests).where(is_old)).rowcount
