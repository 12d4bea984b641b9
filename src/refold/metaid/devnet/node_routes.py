"""What explorers and wallets give: raw transactions, coins, fees, and a door for transactions."""

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from refold.kernel.errors import InputError
from refold.metaid.address import parse_address
from refold.metaid.devnet import chain, purse
from refold.metaid.devnet.answers import as_bytes, as_json
from refold.metaid.devnet.requests import AnyRequest, node_of, text_of
from refold.metaid.devnet.rows import Json
from refold.metaid.devnet.rules import REJECTIONS
from refold.metaid.script import p2pkh_script


class Broadcast(msgspec.Struct, rename="camel"):
    """The body that wallets send a transaction in (facts: metaid §5)."""

    raw_tx: str
    chain: str = "mvc"
    net: str = "livenet"


@post("/wallet-api/v3/tx/broadcast", status_code=200)
async def broadcast(request: AnyRequest) -> Response[bytes]:
    """Take a transaction in the envelope of the wallets: code 0, or the node's number."""
    try:
        asked = msgspec.json.decode(await request.body(), type=Broadcast)
        txid = node_of(request).send(_raw(asked.raw_tx))
    except msgspec.MsgspecError as error:
        return as_json({"code": 40_000, "message": str(error), "data": None})
    except InputError as error:
        number = REJECTIONS[error.code][0]
        return as_json({"code": number, "message": error.code, "data": None})
    return as_json({"code": 0, "message": "success", "data": txid})


@post("/devnet/tx", status_code=200)
async def send(request: AnyRequest) -> Response[bytes]:
    """Take a transaction whose hex is the body; 400 with the node's number when it is refused."""
    try:
        txid = node_of(request).send(_raw((await request.body()).decode("ascii", "replace")))
    except InputError as error:
        refusal: Json = {
            "code": error.code,
            "number": REJECTIONS[error.code][0],
            "detail": str(error),
        }
        return as_json(refusal, 400)
    return as_json({"txid": txid})


def _raw(text: str) -> bytes:
    """Read hex; raises `InputError` `tx-decode`."""
    try:
        return bytes.fromhex(text.strip())
    except ValueError as error:
        raise InputError(
            "tx-decode", "the transaction is no hex", "send its bytes as hex"
        ) from error


@get(["/open-api-mvc/tx/{txid:str}/raw", "/tx/{txid:str}/raw"], sync_to_thread=False)
def raw_tx(request: AnyRequest, txid: FromPath[str]) -> Response[bytes]:
    """Give a transaction as hex, in a block or in the mempool."""
    raw = node_of(request).raw_tx(txid)
    if raw is None:
        return as_json({"error": "no such transaction"}, 404)
    return as_json({"hex": raw.hex()})


@get("/devnet/block/{height:int}", sync_to_thread=False)
def raw_block(request: AnyRequest, height: FromPath[int]) -> Response[bytes]:
    """Give the bytes of a block."""
    raw = node_of(request).raw_block(height)
    if raw is None:
        return as_json({"error": "no such block"}, 404)
    return as_bytes(raw, "application/octet-stream")


@get("/devnet/tip", sync_to_thread=False)
def tip(request: AnyRequest) -> Response[bytes]:
    """Give the last block."""
    return as_json(node_of(request).tip)


@get("/wallet-api/v4/mvc/address/utxo-list", sync_to_thread=False)
def coins(request: AnyRequest) -> Response[bytes]:
    """Give the coins of an address, on one page; height -1 in the mempool."""
    address = text_of(request, "address")
    try:
        parsed = parse_address(address)
    except InputError as error:
        return as_json({"code": 40_000, "message": str(error), "data": None})
    found: list[Json] = []
    if parsed.kind == "p2pkh" and not text_of(request, "flag"):
        with node_of(request).transaction() as connection:
            for coin in purse.coins(connection, p2pkh_script(parsed.payload), least=1):
                txid, index = coin.outpoint.txid, coin.outpoint.index
                height = chain.height_of_tx(connection, txid)
                found.append(
                    {
                        "txid": txid,
                        "outIndex": index,
                        "value": coin.output.value,
                        "address": address,
                        "height": -1 if height is None else height,
                        "flag": f"{txid}_{index}",
                    }
                )
    return as_json({"code": 0, "message": "success", "data": {"list": found}})


@get("/wallet-api/v4/mvc/fee/summary", sync_to_thread=False)
def fees(request: AnyRequest) -> Response[bytes]:
    """Give the rates of fees, all of them 1 satoshi a byte."""
    del request
    rates = [{"title": title, "desc": "", "feeRate": 1} for title in ("Fast", "Avg", "Slow")]
    return as_json({"code": 0, "message": "success", "data": {"list": rates}})


ROUTES: tuple[ControllerRouterHandler, ...] = (
    *(broadcast, send, raw_tx, raw_block, tip, coins, fees),
)
