"""Settings of this part: what the operator of a node says once, with `refold trials init`."""

from refold.kernel.settings import Setting, Value
from refold.trials.limits import MAX_BITS, RATES

__all__ = ["KEY", "LIMITS", "NAME", "ROOMS", "SETTINGS", "SITES", "WORK"]

NAME = Setting("trials_name", "cold trials", "name of the node of cold trials, for people")
KEY = Setting(
    "trials_key",
    "trials.key",
    "file with the seed of the node's key (mode 0600); without it nothing can be posted",
)
ROOMS: Setting[tuple[str, ...]] = Setting(
    "trials_rooms", ("commons", "research", "workshop"), "rooms that posts may stand in"
)
SITES: Setting[tuple[str, ...]] = Setting(
    "trials_sites", (), "further shared hosts, as HOST=forgejo or HOST=gitlab"
)
WORK = Setting(
    "trials_work_bits", 0, f"zero bits of the proof of work at admission, 0 to {MAX_BITS}"
)
LIMITS: dict[str, Setting[int]] = {
    rate.id: Setting(
        rate.setting,
        rate.count,
        f"{rate.says} by one {rate.who} in {rate.seconds:,} seconds; 0 for no limit",
    )
    for rate in RATES
}
"""The counts of the limits, by the limit's id."""
SETTINGS: tuple[Setting[Value], ...] = (NAME, KEY, ROOMS, SITES, WORK, *LIMITS.values())
