"""Scripts: their tokens, pushes of data, and the address that an output locks to.

A push longer than the script is the only thing that makes a script unreadable. On MVC a push may
be of any length; the 520 bytes of BTC are the inscription's to check.
"""

from collections.abc import Iterator

from refold.kernel.errors import InputError
from refold.metaid.address import hash160, p2pkh_address, p2sh_address, segwit_address

OP_0 = 0x00
OP_PUSHDATA1 = 0x4C
OP_PUSHDATA2 = 0x4D
OP_PUSHDATA4 = 0x4E
OP_1 = 0x51
OP_IF = 0x63
OP_ENDIF = 0x68
OP_RETURN = 0x6A

MAX_DIRECT_PUSH = 75
"""Bytes that an opcode pushes by itself."""

_P2PKH_HEAD, _P2PKH_TAIL = bytes.fromhex("76a914"), bytes.fromhex("88ac")
_P2SH_HEAD, _P2SH_TAIL = bytes.fromhex("a914"), bytes.fromhex("87")
_P2PK_TAIL = bytes.fromhex("ac")


def tokens(script: bytes) -> Iterator[tuple[int, bytes]]:
    """Give each opcode with the data it pushes; other opcodes than pushes have none.

    Raises `InputError` `script-cut` at a push that goes beyond the end.
    """
    at, size = 0, len(script)
    while at < size:
        opcode = script[at]
        at += 1
        if opcode > OP_PUSHDATA4:
            yield opcode, b""
            continue
        length = opcode
        if opcode > MAX_DIRECT_PUSH:
            width = 1 << (opcode - OP_PUSHDATA1)
            length = int.from_bytes(script[at : at + width], "little")
            at += width
        end = at + length
        if end > size:
            raise InputError(
                "script-cut",
                f"a push of {length} bytes ends beyond the script's {size}",
                "fetch the transaction again",
            )
        yield opcode, script[at:end]
        at = end


def push(data: bytes) -> bytes:
    """Give the shortest push of `data`, up to 2³²-1 bytes.

    Never OP_1 to OP_16: the readers of pins take these opcodes for empty pushes.
    """
    size = len(data)
    if size <= MAX_DIRECT_PUSH:
        return bytes((size,)) + data
    if size < 1 << 8:
        return bytes((OP_PUSHDATA1, size)) + data
    if size < 1 << 16:
        return bytes((OP_PUSHDATA2,)) + size.to_bytes(2, "little") + data
    return bytes((OP_PUSHDATA4,)) + size.to_bytes(4, "little") + data


def pushes_only(script: bytes) -> list[bytes] | None:
    """Give the data of a script that only pushes, None for any other (OP_1 to OP_16 too)."""
    try:
        found = list(tokens(script))
    except InputError:
        return None
    return [data for _, data in found] if all(op <= OP_PUSHDATA4 for op, _ in found) else None


def p2pkh_script(key_hash: bytes) -> bytes:
    """Give the script that locks to the key of a hash160 (20 bytes)."""
    return _P2PKH_HEAD + key_hash + _P2PKH_TAIL


def p2pkh_hash(script: bytes) -> bytes | None:
    """Give the hash160 that a P2PKH script locks to, None for any other script."""
    if len(script) == 25 and script.startswith(_P2PKH_HEAD) and script.endswith(_P2PKH_TAIL):
        return script[3:23]
    return None


def address_of(script: bytes, *, segwit: bool = False) -> str:
    """Give the address of an output, "" when it has none: P2PKH, P2SH, P2PK.

    `segwit`: BTC's witness programs of version 0 and 1 too; on MVC they lock to nobody. Bare
    multisig, which the readers disagree on, has none.
    """
    size = len(script)
    key_hash = p2pkh_hash(script)
    if key_hash is not None:
        return p2pkh_address(key_hash)
    if size == 23 and script.startswith(_P2SH_HEAD) and script.endswith(_P2SH_TAIL):
        return p2sh_address(script[2:22])
    if size in {35, 67} and script[0] == size - 2 and script.endswith(_P2PK_TAIL):
        return p2pkh_address(hash160(script[1:-1])) if is_public_key(script[1:-1]) else ""
    if segwit and size in {22, 34} and script[1] == size - 2:
        if script[0] == OP_0:
            return segwit_address(0, script[2:])
        if script[0] == OP_1 and size == 34:
            return segwit_address(1, script[2:])
    return ""


def is_public_key(data: bytes) -> bool:
    """Tell whether `data` has the form of a public key that nodes take: 33 or 65 bytes."""
    return (len(data) == 33 and data[0] in {2, 3}) or (len(data) == 65 and data[0] == 4)
