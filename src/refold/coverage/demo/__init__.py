"""Receipts to look at: one of every judgement, with the sources that give it. All of it made up.

    for shown in demo_receipts():
        verify(shown.data, demo_sources(), NOW).judgement == shown.scene.judgement

The same bytes always: the receipts are built, or forged, from pages that a script holds. What the
sources answer today is in `demo_sources`; served at any address, it gives the same judgements.
"""

from refold.coverage.demo.making import Shown, demo_receipts, demo_sources
from refold.coverage.demo.scenes import BUILT_AT, ORIGIN, SCENES, Scene
from refold.coverage.demo.told import Told, ToldPage

__all__ = [
    "BUILT_AT",
    "ORIGIN",
    "SCENES",
    "Scene",
    "Shown",
    "Told",
    "ToldPage",
    "demo_receipts",
    "demo_sources",
]
