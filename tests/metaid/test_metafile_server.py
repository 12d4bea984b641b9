"""The metafile indexer: status 200 for everything, so the code counts."""

from collections.abc import Mapping
from typing import Any

import pytest

from metaid.mans import BASE, HTML, Answer, Scripted, load
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, SourceError
from refold.metaid.fileserver import FileServer

META = load("metafile_metadata.json")
STATUS = load("metafile_status.json")
MISSING = load("metafile_not_found.json")
PIN = META["data"]["pin_id"]


def server(*answers: Answer) -> tuple[FileServer, Scripted]:
    turns = list(answers)

    def script(_path: str, _query: Mapping[str, str]) -> Answer:
        return turns.pop(0) if len(turns) > 1 else turns[0]

    transport = Scripted(script)
    return FileServer(
        transport, f"{BASE}/metafile-indexer/", sleep=lambda _seconds: None
    ), transport


def test_what_is_known_of_a_file() -> None:
    client, transport = server(META)
    info = client.info(PIN)
    assert info is not None
    assert (info.pin_id, info.file_size, info.file_hash) == (
        *(PIN, 7000),
        META["data"]["file_hash"],
    )
    assert transport.asked == [f"/metafile-indexer/api/v1/files/{PIN}"]


@pytest.mark.parametrize("status", ["merged", "pending", "not_found"])
def test_how_far_the_indexer_is(status: str) -> None:
    client, _ = server(STATUS[status])
    found = client.status(PIN)
    assert found is not None
    assert found.status == status
    assert found.file_size == STATUS[status]["data"]["fileSize"]


def test_content_is_what_has_a_name() -> None:
    named = {"content-disposition": 'inline; filename="a.json"', "content-type": "application/json"}
    client, transport = server((200, b'{"code":40400}', named))
    assert client.content(PIN, max_bytes=100) == b'{"code":40400}'
    assert transport.headers[0]["Accept"] == "*/*"
    client, _ = server((200, b'{"code":40400}', {"content-type": "application/json"}))
    assert client.content(PIN, max_bytes=100) is None


def test_a_missing_file_is_status_200_and_none() -> None:
    client, _ = server(MISSING)
    assert client.info(PIN) is None
    assert client.status(PIN) is None
    assert client.content(PIN, max_bytes=100) is None


@pytest.mark.parametrize(
    ("answer", "code", "passing"),
    [
        ((200, HTML), "file-unreadable", True),
        ((200, b""), "file-unreadable", True),
        ((502, HTML), "file-status", True),
        ((404, HTML), "file-status", False),
        ({"code": 50000, "message": "server"}, "file-error", True),
        ({"code": 50301, "message": "node", "errorCode": "x"}, "file-error", True),
        ({"code": 40000, "message": "parameter"}, "file-error", False),
        ({"code": 1, "message": "ok", "data": META["data"]}, "file-error", True),
        ((500, META), "file-error", True),
        ({"code": 0, "data": None}, "file-shape", True),
        ({"code": 0, "data": {"file_size": 5}}, "file-shape", True),
        ({"data": META["data"]}, "file-unreadable", True),
        ([], "file-unreadable", True),
    ],
)
def test_no_other_answer_counts(answer: Answer, code: str, passing: bool) -> None:
    client, transport = server(answer)
    with pytest.raises(SourceError) as caught:
        client.info(PIN)
    assert (caught.value.code, isinstance(caught.value, TransientError)) == (code, passing)
    assert transport.requests == (4 if passing else 1)


def test_what_may_pass_is_asked_for_again() -> None:
    client, transport = server((502, HTML), (200, b""), META)
    assert client.info(PIN) is not None
    assert transport.requests == 3


@pytest.mark.parametrize("name", ["", "x", f"{PIN}/..", PIN.upper()])
def test_what_is_no_pin_id_is_not_asked_for(name: str) -> None:
    client, transport = server(META)
    asks: Any = (client.info, client.status, lambda pin: client.content(pin, max_bytes=5))
    for ask in asks:
        with pytest.raises(InputError):
            ask(name)
    assert transport.requests == 0
