"""The metafile indexer: whole files, chunked ones, and what it does not check."""

import json
from collections.abc import Iterator
from hashlib import md5, sha256
from typing import Any

import pytest

from metaid.devnet.served import NOTE, Client, sample, served, write
from refold.metaid.devnet import files
from refold.metaid.devnet.file_routes import PREFIX

LINE = b"tide heights for the north harbour\n"
DATA = LINE * 200


@pytest.fixture
def client() -> Iterator[Client]:
    with served() as client:
        yield client


def file(client: Client, data: bytes = DATA, **options: Any) -> str:
    pin = client.net.file(client.net.key("alice"), data, content_type="text/plain", **options)
    client.net.mine()
    return pin


def mfs(client: Client, route: str, **query: Any) -> Any:
    answer = client.http.get(f"{PREFIX}{route}", params=query)
    assert answer.status_code == 200
    told = answer.json()
    assert set(told) == set(sample("metafile_not_found"))
    return told["data"] if told["code"] == 0 else told["code"]


def test_a_chunked_file_comes_back_whole(client: Client) -> None:
    pin = file(client, name="tides.txt", chunk_bytes=2_048)
    answer = client.http.get(f"{PREFIX}/files/content/{pin}")
    assert (answer.status_code, answer.content) == (200, DATA)
    assert answer.headers["content-type"] == "text/plain"
    assert answer.headers["content-disposition"] == 'inline; filename="tides.txt"'
    head = client.http.head(f"{PREFIX}/files/content/{pin}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(DATA))


def test_its_index_is_that_of_the_sample(client: Client) -> None:
    known = sample("metafile_index_payload")
    pin = file(client, name="tides.txt", chunk_bytes=2_048)
    body = json.loads(client.http.get(f"/content/{pin}").content)
    chunks = [{**chunk, "pinId": None} for chunk in body["chunkList"]]
    expected = [{**chunk, "pinId": None} for chunk in known["payload"]["chunkList"]]
    assert {**body, "chunkList": chunks} == {**known["payload"], "chunkList": expected}
    for chunk in body["chunkList"]:
        piece = client.http.get(f"/content/{chunk['pinId']}").content
        assert sha256(piece).hexdigest() == chunk["sha256"]
    paths = {p.path for p in client.net.pins()}
    assert paths == {files.CHUNK_PATH, files.INDEX_PATH}


def test_metadata_as_the_sample(client: Client) -> None:
    pin = file(client, name="tides.txt", chunk_bytes=2_048)
    told, known = mfs(client, f"/files/{pin}"), sample("metafile_metadata")["data"]
    assert set(told) == set(known)
    alice = client.net.key("alice")
    same = ("file_name", "file_size", "file_hash", "file_md5", "file_type", "file_extension")
    assert {name: told[name] for name in same} == {name: known[name] for name in same}
    assert told["file_hash"] == sha256(DATA).hexdigest()
    assert told["file_md5"] == md5(DATA, usedforsecurity=False).hexdigest()
    assert told["creator_global_meta_id"] == alice.globalmetaid
    assert (told["path"], told["block_height"]) == (files.INDEX_PATH, 1)
    assert told["content_url"] == f"{client.url}{PREFIX}/files/content/{pin}"


def test_whole_files_and_compressed_chunks(client: Client) -> None:
    small = file(client, b"one line\n")
    squeezed = file(client, chunk_bytes=3_000, compress=True)
    empty = file(client, b"", chunk_bytes=100)
    for pin, data in ((small, b"one line\n"), (squeezed, DATA), (empty, b"")):
        assert client.http.get(f"{PREFIX}/files/content/{pin}").content == data
        assert mfs(client, f"/files/{pin}")["file_size"] == len(data)
    chunk = next(p for p in client.net.pins(files.CHUNK_PATH))
    assert chunk.body.startswith(b"\x1f\x8b")


def test_what_is_not_there_is_http_200(client: Client) -> None:
    (note,) = write(client.net, 1)
    client.net.mine()
    for pin in ("0" * 64 + "i0", note):
        for route in (f"/files/{pin}", f"/files/content/{pin}", f"/pins/{pin}"):
            answer = client.http.get(f"{PREFIX}{route}")
            assert (answer.status_code, answer.json()["code"]) == (200, 40_400)
            assert "content-disposition" not in answer.headers
        assert client.http.head(f"{PREFIX}/files/content/{pin}").status_code == 200
        assert mfs(client, f"/files/status/{pin}") == sample("metafile_status")["not_found"]["data"]


def test_a_json_file_has_the_header_that_an_error_lacks(client: Client) -> None:
    pin = client.net.file(client.net.key("a"), b'{"code":40400}', content_type="application/json")
    answer = client.http.get(f"{PREFIX}/files/content/{pin}")
    assert answer.headers["content-disposition"] == "inline"


def test_an_index_before_its_chunks_is_pending(client: Client) -> None:
    alice = client.net.key("alice")
    missing = "ab" * 32 + "i0"
    index = files.index_payload(
        DATA, [("00" * 32, missing)], chunk_bytes=9_000, name="n", data_type="text/plain"
    )
    pin = client.net.pin(alice, files.INDEX_PATH, index, content_type=files.INDEX_TYPE)
    client.net.mine()
    told, known = mfs(client, f"/files/status/{pin}"), sample("metafile_status")["pending"]["data"]
    assert set(told) == set(known)
    assert (told["status"], told["fileSize"], told["blockHeight"]) == ("pending", len(DATA), 1)
    assert client.http.get(f"{PREFIX}/files/content/{pin}").json()["code"] == 40_400
    assert mfs(client, f"/files/{pin}")["file_hash"] == ""


def test_digests_in_an_index_are_compared_with_nothing(client: Client) -> None:
    alice = client.net.key("alice")
    chunk = client.net.pin(alice, files.CHUNK_PATH, b"other bytes", content_type=files.CHUNK_TYPE)
    index = files.index_payload(
        DATA, [("00" * 32, chunk)], chunk_bytes=9_000, name="n", data_type="text/plain"
    )
    pin = client.net.pin(alice, files.INDEX_PATH, index, content_type=files.INDEX_TYPE)
    assert client.http.get(f"{PREFIX}/files/content/{pin}").content == b"other bytes"
    assert mfs(client, f"/files/status/{pin}")["status"] == "merged"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b'{"chunkList":1}', b'{"chunkList":[{}],"fileSize":1}'),
        *(b'{"chunkList":[],"fileSize":"many"}', b'{"chunkList":[],"fileSize":1e999}'),
    ],
)
def test_an_index_that_says_nothing_is_no_file(client: Client, body: bytes) -> None:
    alice = client.net.key("alice")
    pin = client.net.pin(alice, files.INDEX_PATH, body, content_type=files.INDEX_TYPE)
    assert mfs(client, f"/files/{pin}") == 40_400


def test_numbers_in_an_index_may_be_text_or_floats(client: Client) -> None:
    alice = client.net.key("alice")
    for size in ('"0"', "0.0", "0"):
        body = f'{{"chunkList":[],"fileSize":{size},"dataType":"text/plain"}}'.encode()
        pin = client.net.pin(alice, files.INDEX_PATH, body, content_type=files.INDEX_TYPE)
        assert mfs(client, f"/files/{pin}")["file_size"] == 0


def test_accelerated_content_is_sent_on(client: Client) -> None:
    pin = file(client)
    answer = client.http.get(f"{PREFIX}/files/accelerate/content/{pin}?process=preview")
    assert answer.status_code == 307
    assert client.http.get(answer.headers["location"]).content == DATA
    assert client.http.head(f"{PREFIX}/files/accelerate/content/{pin}").status_code == 200


def test_the_latest_version(client: Client) -> None:
    first = file(client, b"first")
    assert client.http.get(f"{PREFIX}/files/content/latest/{first}").content == b"first"
    alice = client.net.key("alice")
    second = client.net.pin(alice, f"@{first}", b"second", "modify", content_type="text/plain")
    client.net.mine()
    assert client.http.get(f"{PREFIX}/files/content/latest/{first}").content == b"second"
    assert client.http.get(f"{PREFIX}/files/content/{first}").content == b"first"
    assert mfs(client, f"/files/latest/{first}")["pin_id"] == second
    told = mfs(client, f"/pins/{second}")
    assert (told["first_pin_id"], told["first_path"]) == (first, files.FILE_PATH)
    assert (told["pin_id"], told["operation"]) == (second, "modify")


def test_lists_of_files(client: Client) -> None:
    pins = [file(client, bytes([n]) * 9) for n in range(5)]
    chunked = file(client, chunk_bytes=4_000)
    bobs = client.net.file(client.net.key("bob"), b"bob's")
    client.net.mine()
    found, cursor = [], 0
    while True:
        page = mfs(client, "/files", cursor=cursor, size=3)
        found += [told["pin_id"] for told in page["files"]]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    assert found == [bobs, chunked, *pins[::-1]]
    bob = client.net.key("bob")
    own = mfs(client, f"/files/creator/{bob.address}")["files"]
    assert [told["pin_id"] for told in own] == [bobs]
    assert mfs(client, "/files", size=0) == 40_000


def test_the_creator_is_who_pays_last(client: Client) -> None:
    """With a sponsor's input at the end, the two services name different people (§1.4)."""
    pin = file(client)
    record = mfs(client, f"/files/{pin}")
    assert record["creator_address"] == record["owner_address"]
    status = mfs(client, "/status")["chains"][0]
    assert (status["current_sync_height"], status["latest_block_height"]) == (1, 1)
    assert client.ids(NOTE) == []
