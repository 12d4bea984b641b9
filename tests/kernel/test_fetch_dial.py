"""Parts of dialling that the client's own tests do not reach."""

import socket

import pytest

from refold.kernel.dial import TransientError, Wire, connect_socket, resolve_system
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy


def test_the_system_knows_loopback() -> None:
    addresses = resolve_system("localhost", 80)
    assert addresses
    assert set(addresses) <= {"127.0.0.1", "::1"}
    assert len(addresses) == len(set(addresses))


@pytest.mark.parametrize("error", [OSError("no"), TimeoutError(), UnicodeError("label too long")])
def test_a_resolver_may_fail_as_it_likes(error: Exception) -> None:
    def resolver(host: str, port: int) -> list[str]:
        del host, port
        raise error

    with (
        GuardedClient(FetchPolicy(retries=0), resolver=resolver) as client,
        pytest.raises(TransientError) as failed,
    ):
        client.get("https://good.example/")
    assert failed.value.code == "name-unresolved"


def test_an_idle_wire_is_readable_when_it_is_of_no_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        wire = Wire(connect_socket("127.0.0.1", listener.getsockname()[1], 5.0), "127.0.0.1")
        peer, _ = listener.accept()
        assert wire.get_extra_info("is_readable") is False
        peer.close()
        wire._sock.recv(1)  # waits for the end, which stays readable
        assert wire.get_extra_info("is_readable") is True
        wire.close()
        assert wire.get_extra_info("is_readable") is True
        assert wire.get_extra_info("address") == "127.0.0.1"
        assert wire.get_extra_info("client_addr") is None
