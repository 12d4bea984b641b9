"""No forbidden place is ever connected to: not by its URL, by a redirect, or by what DNS answers.

Two witnesses: what the client gave to its connect function, and sockets that listen on one port of
every address of this machine.
"""

import socket
from collections.abc import Iterator
from itertools import permutations

import pytest

from kernel.hostile import PUBLIC, Answers, Dialled, Names, Trap, http, serving
from kernel.spellings import ADDRESSES, spelled
from refold.kernel.addresses import LOOPBACK
from refold.kernel.errors import InputError, RefoldError, SourceError
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy

GOOD = "http://good.example"
# Waits of no length: what is tested is whether there is a second try.
OPEN_HTTP = FetchPolicy(http_hosts=("good.example",), retry_wait=0)


@pytest.fixture(scope="module")
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


def at_trap(url: str, trap: Trap) -> str:
    return url.replace("TRAP", str(trap.port))


CASES = [url.replace("65000", "TRAP") for url in spelled(65000)]


@pytest.mark.parametrize("scheme", ["https", "http"])
@pytest.mark.parametrize("case", CASES)
def test_by_its_url(case: str, scheme: str, trap: Trap) -> None:
    url = at_trap(case, trap).replace("https", scheme)
    dialled = Dialled()
    names = Names(["127.0.0.1", "::1"])  # every name leads to loopback
    with GuardedClient(resolver=names, connect=dialled) as client:
        with pytest.raises(InputError) as refused:
            client.get(url)
        assert client.requests == 0
    assert refused.value.code in {"url-invalid", "address-forbidden", "scheme-forbidden"}
    assert str(refused.value).isprintable()
    assert dialled.calls == []
    assert len(names.calls) <= 1
    assert not trap.touched


@pytest.mark.parametrize("status", ["302 Found", "308 Permanent Redirect"])
def test_by_a_redirect(status: str, trap: Trap) -> None:
    script = Answers(b"")
    with serving(script) as server:
        dialled = Dialled(server.port)
        # The name of the origin is public, every other leads to loopback.
        with GuardedClient(OPEN_HTTP, resolver=answer_by_name, connect=dialled) as client:
            for case in filter(None, CASES):  # an empty Location is none
                url = at_trap(case, trap)
                script.answers = [http(b"", status, "Location: @").replace(b"@", url.encode(), 1)]
                with pytest.raises(SourceError) as refused:
                    client.get(f"{GOOD}/start")
                assert refused.value.code in {"redirected-off-source", "framing-invalid"}, case
    assert set(dialled.addresses) == {PUBLIC}
    assert not trap.touched


def answer_by_name(host: str, port: int) -> list[str]:
    del port
    return [PUBLIC] if host == "good.example" else ["127.0.0.1"]


ODD_ANSWERS = [
    *("127.1", "0177.0.0.1", "2130706433", "0x7f000001", "127.0.0.1 ", "１２７.0.0.1", ""),
    *("fe80::1%eth0", "8.8.8.8%1", "2606:4700::1111%1", "[::1]", "localhost", "8.8.8.8:80"),
]


@pytest.mark.parametrize("answer", [*ADDRESSES, *ODD_ANSWERS])
def test_by_what_dns_answers(answer: str, trap: Trap) -> None:
    dialled = Dialled()
    names = Names([answer])
    with (
        GuardedClient(resolver=names, connect=dialled) as client,
        pytest.raises(InputError) as refused,
    ):
        client.get(f"https://good.example:{trap.port}/")
    assert refused.value.code == "address-forbidden"
    # Whoever chose the URL does not learn what our DNS says.
    assert not answer.strip() or answer not in str(refused.value)
    assert dialled.calls == []
    assert len(names.calls) == 1
    assert not trap.touched


@pytest.mark.parametrize("answers", list(permutations(["8.8.8.8", "2606:4700::1111", "10.0.0.1"])))
def test_one_forbidden_address_among_good_ones_forbids_the_name(answers: tuple[str, ...]) -> None:
    dialled = Dialled()
    with (
        GuardedClient(resolver=Names(answers), connect=dialled) as client,
        pytest.raises(InputError, match="private"),
    ):
        client.get("https://good.example/")
    assert dialled.calls == []


def test_an_answer_that_changes_after_the_check_is_not_asked_for(trap: Trap) -> None:
    with serving(Answers(http(b"first"), http(b"second"), close=True)) as server:
        dialled = Dialled(server.port)
        names = Names([PUBLIC], ["127.0.0.1"])
        url = f"{GOOD}:{trap.port}/"
        with GuardedClient(OPEN_HTTP, resolver=names, connect=dialled) as client:
            assert client.get(url).body == b"first"
            assert names.calls == [("good.example", trap.port)]
            # The server has closed: a new connection is judged anew.
            with pytest.raises(InputError) as refused:
                client.get(url)
    assert refused.value.code == "address-forbidden"
    assert dialled.calls == [(PUBLIC, trap.port)]
    assert not trap.touched


def test_a_retry_and_a_redirect_on_new_connections_are_judged_anew(trap: Trap) -> None:
    for answer in (http(b"", "503 No"), http(b"", "302 Found", "Location: /next")):
        with serving(Answers(answer, close=True)) as server:
            dialled = Dialled(server.port)
            names = Names([PUBLIC], ["::1"])
            with (
                GuardedClient(OPEN_HTTP, resolver=names, connect=dialled) as client,
                pytest.raises(InputError) as refused,
            ):
                client.get(f"{GOOD}:{trap.port}/")
        assert refused.value.code == "address-forbidden"
        assert dialled.addresses == [PUBLIC]
    assert not trap.touched


def test_a_kept_connection_stays_with_its_address() -> None:
    with serving(Answers(http(b"same"))) as server:
        names = Names([PUBLIC], ["127.0.0.1"])
        dialled = Dialled(server.port)
        with GuardedClient(OPEN_HTTP, resolver=names, connect=dialled) as client:
            assert {client.get(f"{GOOD}/{n}").address for n in range(5)} == {PUBLIC}
        assert server.connections == len(names.calls) == len(dialled.calls) == 1


def test_the_next_address_is_dialled_when_one_does_not_answer() -> None:
    good = ["8.8.8.8", "8.8.4.4", "2606:4700::1111", "1.1.1.1", "1.0.0.1"]
    with serving(Answers(http(b"there"))) as server:

        def connect(address: str, port: int, seconds: float) -> socket.socket:
            dialled.append(address)
            if address != "2606:4700::1111":
                raise ConnectionRefusedError(111, "Connection refused")
            return Dialled(server.port)(address, port, seconds)

        dialled: list[str] = []
        with GuardedClient(OPEN_HTTP, resolver=Names(good), connect=connect) as client:
            assert client.get(GOOD).address == "2606:4700::1111"
        assert dialled == good[:3]


def test_no_more_than_four_addresses_are_dialled() -> None:
    def connect(address: str, port: int, seconds: float) -> socket.socket:
        del port, seconds
        dialled.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    dialled: list[str] = []
    policy = FetchPolicy(retries=0)
    names = Names([f"8.8.8.{n}" for n in range(100)])
    with (
        GuardedClient(policy, resolver=names, connect=connect) as client,
        pytest.raises(SourceError, match="Connection refused") as failed,
    ):
        client.get("https://good.example/")
    assert failed.value.code == "connect-failed"
    assert dialled == [f"8.8.8.{n}" for n in range(4)]


def test_loopback_by_permission_and_only_it() -> None:
    policy = FetchPolicy(allowed_networks=LOOPBACK)
    with serving(Answers(http(b"home"))) as server:
        dialled = Dialled()
        with GuardedClient(policy, resolver=Names(["127.0.0.1"]), connect=dialled) as client:
            for host in ("127.0.0.1", "localhost", "LOCALHOST"):
                assert client.get(f"http://{host}:{server.port}/").body == b"home"
            for host in ("[::ffff:127.0.0.1]", "127.1", "[64:ff9b::7f00:1]", "10.0.0.1"):
                with pytest.raises(InputError):
                    client.get(f"https://{host}:{server.port}/")
            with pytest.raises(InputError) as refused:  # a name is no loopback, whatever DNS says
                client.get(f"http://good.example:{server.port}/")
        assert refused.value.code == "scheme-forbidden"
        assert {address for address, _ in dialled.calls} == {"127.0.0.1"}


def test_localhost_is_loopback_or_nothing() -> None:
    dialled = Dialled()
    with (
        GuardedClient(resolver=Names([PUBLIC]), connect=dialled) as client,
        pytest.raises(InputError) as refused,
    ):
        client.get("http://localhost/")
    assert refused.value.code == "address-forbidden"
    assert dialled.calls == []


@pytest.mark.parametrize("url", ["http://good.example/", "http://8.8.8.8/", "http://10.0.0.1/"])
def test_plain_http_needs_permission_and_asks_no_dns(url: str) -> None:
    names = Names([PUBLIC])
    with (
        GuardedClient(resolver=names, connect=Dialled()) as client,
        pytest.raises(InputError) as refused,
    ):
        client.get(url)
    assert refused.value.code == "scheme-forbidden"
    assert names.calls == []


def test_proxies_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, trap: Trap
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
        monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{trap.port}")
    with serving(Answers(http(b"direct"))) as server:
        policy = FetchPolicy(allowed_networks=LOOPBACK)
        with GuardedClient(policy) as client:
            assert client.get(f"{server.origin}/").body == b"direct"
    assert not trap.touched


def test_a_mapped_origin_opens_no_other_way() -> None:
    with serving(Answers(http(b"mapped"))) as server:
        policy = FetchPolicy(origin_map={"https://api.example.test": server.origin})
        names = Names(["127.0.0.1"])
        dialled = Dialled()
        with GuardedClient(policy, resolver=names, connect=dialled) as client:
            assert client.get("https://api.example.test/x").body == b"mapped"
            for url in (
                f"{server.origin}/x",
                f"https://127.0.0.1:{server.port}/x",
                f"https://api.example.test:{server.port}/x",
                "https://www.api.example.test/x",
                "http://api.example.test/x",
            ):
                with pytest.raises(InputError):
                    client.get(url)
        assert dialled.calls == [("127.0.0.1", server.port)]


def test_the_witnesses_would_notice() -> None:
    trap = Trap()
    dialled = Dialled()
    policy = FetchPolicy(allowed_networks=LOOPBACK, max_seconds_idle=0.01, retries=0)
    with GuardedClient(policy, connect=dialled) as client, pytest.raises(RefoldError):
        client.get(f"http://127.0.0.1:{trap.port}/")
    assert trap.touched
    assert dialled.calls == [("127.0.0.1", trap.port)]
    trap.close()
