"""One server for the tests that change nothing in it."""

from collections.abc import Iterator

import pytest

from serving.served import Served, served


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as found:
        yield found
