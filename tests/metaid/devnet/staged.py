"""Small scenes on a served chain that the tests of quirks begin with."""

from metaid.devnet.served import NOTE, Client, Row, write
from refold.metaid.devnet import purse
from refold.metaid.envelope import new_tuple, pin_script
from refold.metaid.tx import MVC_VERSION, Input, Output, Tx, serialize_tx
from refold.metaid.wallet import Key, sign_tx


def mined(client: Client, count: int = 3, blocks: int = 1) -> list[str]:
    pins = []
    for _ in range(blocks):
        pins += write(client.net, count)
        client.net.mine()
    return pins


def detail(client: Client, pin_id: str) -> Row:
    row: Row = client.data(f"/api/pin/{pin_id}")
    return row


def pin_body(client: Client, body: bytes, content_type: str = "application/json") -> str:
    pin = client.net.pin(client.net.key("alice"), NOTE, body, content_type=content_type)
    client.net.mine()
    return pin


def bodies(row: Row) -> tuple[str, int, str]:
    return (row["contentBody"], row["contentLength"], row["contentSummary"])


def forged(client: Client, victim: Key) -> str:
    """Let mallory pay for a pin whose first output names the victim."""
    mallory = client.net.key("mallory")
    client.net.fund(mallory)
    with client.net.transaction() as connection:
        coin = purse.coins(connection, mallory.script)[0]
    outputs = (
        Output(1, victim.script),
        Output(0, pin_script(new_tuple("create", NOTE, b"not mine"))),
        Output(coin.output.value - 2_000, mallory.script),
    )
    tx = sign_tx(Tx(MVC_VERSION, (Input(coin.outpoint, b""),), outputs), [coin.output], [mallory])
    txid = client.net.send(serialize_tx(tx))
    client.net.mine()
    return f"{txid}i0"


def modified(client: Client, rule: str) -> list[str]:
    """Let bob modify a pin of alice; give both, and an untouched one."""
    first, other = mined(client, count=2)
    client.net.quirks(modify=rule)
    change = client.net.pin(client.net.key("bob"), f"@{first}", b"changed", "modify", version="2.0")
    client.net.mine()
    return [first, change, other]
