"""Settings of this part: whom the server may ask when it verifies, and how much at a time."""

from refold.kernel.errors import UsageError
from refold.kernel.settings import Setting, Value

__all__ = ["NETWORKS", "ORIGINS", "SETTINGS", "WORKERS", "origin_map"]

WORKERS = Setting(
    "coverage_workers",
    2,
    "receipts that this process verifies at a time; 0 leaves it to other processes",
)
NETWORKS: Setting[tuple[str, ...]] = Setting(
    "coverage_networks",
    (),
    "private networks (CIDR) that verifications may ask, whoever wants them; empty allows none",
)
ORIGINS: Setting[tuple[str, ...]] = Setting(
    "coverage_origins",
    (),
    "origins asked elsewhere, as https://wiki.example=http://127.0.0.1:8000; reports say so",
)
SETTINGS: tuple[Setting[Value], ...] = (WORKERS, NETWORKS, ORIGINS)


def origin_map(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read `coverage_origins`. Raises UsageError `setting-type`."""
    found = {}
    for pair in pairs:
        public, equals, asked = pair.partition("=")
        if not equals:
            raise UsageError(
                "setting-type",
                f"coverage_origins: {pair!r} is no pair of origins",
                "write ORIGIN=ORIGIN, as in https://wiki.example=http://127.0.0.1:8000",
            )
        found[public.strip()] = asked.strip()
    return found
