"""Making the receipts of the demo, and the sources that they are verified against."""

from functools import cache

import msgspec

from refold.coverage.build import build
from refold.coverage.demo.scenes import BUILT_AT, SCENES, Pages, Scene
from refold.coverage.demo.told import Told, ToldPage
from refold.coverage.plan import plan_of

__all__ = ["Shown", "demo_receipts", "demo_sources"]


class Shown(msgspec.Struct, frozen=True):
    """A scene and the bytes of its receipt."""

    scene: Scene
    data: bytes


@cache
def demo_receipts() -> tuple[Shown, ...]:
    """Give every receipt of the demo, in the order of the scenes."""
    return tuple(Shown(scene, _record_of(scene)) for scene in SCENES)


def demo_sources(at: str = BUILT_AT) -> Told:
    """Give the sources as they are now; all that they say is said at one moment."""
    pages: dict[str, ToldPage] = {}
    for scene in SCENES:
        pages |= _linked(scene, scene.now)
    return Told(pages, at)


def _record_of(scene: Scene) -> bytes:
    unit = {"id": scene.name, "kind": "HTTP_JSON", "url": scene.urls[0], "arrayPath": "items"}
    plan = plan_of(
        {
            "question": scene.question,
            "kind": "demo",
            "validFor": scene.valid_for,
            "criterion": {"match": scene.match},
            "units": [unit],
        }
    )
    built = build(plan, Told(_linked(scene, scene.then), BUILT_AT), BUILT_AT)
    if scene.forge is None:
        return built.data
    record = scene.forge(msgspec.json.decode(built.data))
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def _linked(scene: Scene, pages: Pages) -> dict[str, ToldPage]:
    """Give pages at their addresses, each with a link to the next."""
    followings = [*scene.urls[1 : len(pages)], ""]
    return {
        url: msgspec.structs.replace(page, following=following)
        for url, page, following in zip(scene.urls, pages, followings, strict=False)
    }
