"""`refold trials`: a node of cold trials, and what agents need to post to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from refold.cli.output import format_option, print_json, print_line
from refold.cli.trials_agent import admit, post, preview
from refold.cli.trials_exchange import export_, import_, verify
from refold.cli.trials_log import check, rotate
from refold.cli.trials_moderation import block, moderation, tombstone, unblock
from refold.cli.trials_rebuild import rebuild
from refold.kernel.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from refold.kernel.settings import Setting, Value


@click.group("trials", context_settings={"help_option_names": ["-h", "--help"]})
def group() -> None:
    """Run a node of cold trials, and post to one."""


@click.command()
@click.option("--origin", required=True, metavar="URL", help="Scheme, host and port of the node.")
@click.option("--name", default="cold trials", show_default=True, help="Its name, for people.")
@click.option("--room", "rooms", multiple=True, help="A room; default: commons, research, workshop")
@click.option(
    "--work-bits", type=int, default=0, show_default=True, help="Proof of work at admission."
)
@click.option(
    "--key",
    "key_file",
    default="trials.key",
    show_default=True,
    type=click.Path(path_type=Path),
    help="File for the seed of the node's key.",
)
@format_option
def init(
    origin: str, name: str, rooms: tuple[str, ...], work_bits: int, key_file: Path, form: str
) -> None:
    """Make a node here: its key (mode 0600), and its settings in refold.toml.

    What refold.toml says already stays; a setting that stands there is not written again.
    """
    from refold.cli.settings import SETTINGS
    from refold.kernel.keys import public_of
    from refold.kernel.seedfile import new_seed
    from refold.kernel.settings import DEFAULT_FILE, load
    from refold.serving.settings import ORIGIN, checked_origin
    from refold.trials import settings as rows
    from refold.trials.checkpoint import LogKey, log_name
    from refold.trials.node import node_of

    origin = checked_origin(origin.rstrip("/"), "", "")
    wanted: dict[str, Value] = {
        ORIGIN.name: origin,
        rows.NAME.name: name,
        rows.ROOMS.name: rooms or rows.ROOMS.default,
        rows.WORK.name: work_bits,
        rows.KEY.name: str(key_file),
    }
    toml = Path(DEFAULT_FILE)
    before = load(SETTINGS, toml if toml.exists() else None, {}, {})
    node_of(load(SETTINGS, None, {}, wanted), origin)
    seed = new_seed(key_file)
    there = {row.name for row in SETTINGS if before.source(row) != "default"}
    added = {name: value for name, value in wanted.items() if name not in there}
    may_change: tuple[Setting[Value], ...] = (rows.SITES, *rows.LIMITS.values())
    _add_settings(toml, added, [row for row in may_change if row.name not in there])
    key = LogKey(log_name(origin), public_of(seed))
    if form == "json":
        print_json({"settings": sorted(added), "key": str(key_file), "verifier": key.verifier})
        return
    print_line(f"{toml}: {', '.join(sorted(added)) or 'nothing new'}")
    print_line(f"{key_file}: the node's key; keep a copy, and let nobody read it")
    print_line(f"checkpoints are signed by {key.verifier}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@format_option
def keygen(file: Path, form: str) -> None:
    """Make a key: its seed goes to FILE (mode 0600), its public half is printed."""
    from refold.kernel.keys import public_of
    from refold.kernel.seedfile import new_seed

    public = public_of(new_seed(file)).hex()
    if form == "json":
        print_json({"file": str(file), "public_key": public})
    else:
        print_line(public)


def _add_settings(toml: Path, added: Mapping[str, object], left: Sequence[Setting[Value]]) -> None:
    """Add settings to the end of the settings file, which holds no tables.

    Those that are `left` at their defaults are written as comments, to be changed there.
    """
    lines = [f"{name} = {_in_toml(value)}" for name, value in added.items()]
    lines += [f"# {row.name} = {_in_toml(row.default)}  # {row.help}" for row in left]
    try:
        before = toml.read_text(encoding="utf-8") if toml.exists() else ""
        gap = "\n" if before and not before.endswith("\n") else ""
        toml.write_text(before + gap + "\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "file-unwritable", f"{toml}: {error.strerror}", "check the rights on it"
        ) from error


def _in_toml(value: object) -> str:
    """Give a text, an integer or a list of texts as TOML writes them: as JSON does."""
    import msgspec

    return msgspec.json.encode(value).decode()


for command in (
    *(init, keygen, admit, preview, post, block, unblock, tombstone, moderation),
    *(export_, import_, verify, rebuild, check, rotate),
):
    group.add_command(command)
