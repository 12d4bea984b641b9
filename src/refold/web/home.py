"""The home page: which parts this server runs, and where programs begin."""

from collections.abc import Sequence
from pathlib import Path

import refold
from refold.serving.answers import View
from refold.serving.operation import operations, page
from refold.serving.part import Part

__all__ = ["home_part"]


class Home:
    """The pages of the server itself."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    @page("/", summary="Home")
    def home(self) -> View:
        """List the parts and the addresses for programs."""
        return View("web/home.html", {"parts": self._parts, "version": refold.__version__})


def home_part(parts: Sequence[Part]) -> Part:
    """Give the home page of a server with these parts."""
    return Part(
        name="web",
        title="refold",
        summary="Pages of the server itself.",
        operations=operations(Home(parts)),
        folder=Path(__file__).parent,
    )
