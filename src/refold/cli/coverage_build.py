"""`refold coverage build` and `init`: a plan walked into a receipt, and a plan asked for."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import click

from refold.cli.coverage_report import built_json, note, print_built, whoever_reads
from refold.cli.coverage_walks import (
    Seconds,
    WalkOptions,
    budgets_of,
    clock,
    transport_of,
    walk_options,
    walk_progress,
)
from refold.cli.output import format_option, print_json, print_line, print_problems, read_input
from refold.kernel.errors import Exit, InputError, UsageError

INCONCLUSIVE = 5
OPERATORS = ("eq", "contains", "prefix", "exists")
_INTEGER = re.compile("-?[1-9][0-9]{0,14}|0")


@click.command()
@click.argument("plan", required=False, metavar="PLAN.toml")
@click.option("--url", help="One HTTP_JSON source instead of a plan: the https URL of its list.")
@click.option("--array-path", default="", help="Dot path of the array in its pages; default: root.")
@click.option("--pages-by", metavar="NAME", help="Query parameter that counts pages or rows.")
@click.option(
    "--step", type=click.IntRange(min=1), default=1, help="By how much it grows; 1 for pages."
)
@click.option(
    "--endpoint", help="One MVC_PINS source instead of a plan: the indexer's https origin."
)
@click.option("--pin-path", help="The pin path there.")
@click.option("--page-size", type=int, default=100, show_default=True, help="Pins a page.")
@click.option("--list-only", is_flag=True, help="Read no pin's body: no doc. paths, no digests.")
@click.option(
    "--match",
    "conditions",
    nargs=3,
    multiple=True,
    metavar="FIELD OP VALUE",
    help="A condition with eq, contains, prefix or exists; of several, all must hold. A VALUE for "
    "eq that reads as an integer, true or false is compared as that and as text.",
)
@click.option("--case-fold", is_flag=True, help="Compare texts without regard to case.")
@click.option("--question", help="The question, for people.")
@click.option("--kind", default="list", show_default=True, help="corpus.kind, a label.")
@click.option("--valid-for", default="7d", show_default=True, help="As 30m, 12h, 7d.")
@click.option(
    "--out", type=click.Path(dir_okay=False), help="Write here; default: standard output."
)
@click.option(
    "--settle",
    type=Seconds(),
    default=0.0,
    help="Wait between the two passes that absence takes.",
)
@walk_options
@format_option
def build(
    plan: str | None,
    out: str | None,
    settle: float,
    *,
    walking: WalkOptions,
    form: str,
    **flags: Any,  # noqa: ANN401 - the options of one source
) -> int:
    """Walk the sources of PLAN.toml and write a receipt of what was seen, and no more.

    Absence takes two passes over the same rows. Exit code 0 when ABSENT or PRESENT is written, 5
    when it is INCONCLUSIVE, with a line why. docs/coverage.md describes plans; `init` asks for one.
    """
    from refold.coverage import build as build_receipt
    from refold.coverage import plan_of, read_plan

    single = flags["url"] is not None or flags["endpoint"] is not None
    if single == (plan is not None):
        raise UsageError(
            "plan-or-source", "give a plan or one source", "PLAN.toml, or --url, or --endpoint"
        )
    if out is not None and not Path(out).resolve().parent.is_dir():
        raise UsageError("no-folder", f"{out}: its folder is not there", "make it first")
    planned = plan_of(_plan_of_flags(flags)) if plan is None else read_plan(read_input(plan))
    with transport_of(walking) as transport, walk_progress() as progress:
        built = build_receipt(
            planned,
            transport,
            clock(walking.moment),
            settle=lambda: time.sleep(settle),
            budgets=budgets_of(walking),
            progress=progress,
        )
    if out is not None:
        Path(out).write_bytes(built.data)
    with whoever_reads():
        if out is None:
            sys.stdout.buffer.write(built.data)
        elif form == "json":
            print_json(built_json(built, out))
        else:
            print_built(built, out)
    for reason in built.open_reasons[:1]:
        more = len(built.open_reasons) - 1
        others = f" (and {more} more units)" if more else ""
        note("absence-not-claimed", f"nothing was found, and that proves nothing: {reason}{others}")
    if built.receipt.claim == "PRESENT" and built.report.judgement != "VERIFIED":
        note("weak-presence", f"as it is, it verifies {built.report.judgement}: a unit is BROKEN")
    return INCONCLUSIVE if built.receipt.claim == "INCONCLUSIVE" else Exit.DONE


@click.command()
@click.argument("file", default="coverage-plan.toml", metavar="PLAN.toml")
def init(file: str) -> int:
    """Ask in the terminal what a receipt is to be about, and write the plan.

    What was answered is written even where it is not right yet: each problem is told, and the exit
    code is 2.
    """
    from refold.coverage import plan_of
    from refold.coverage.plan_toml import plan_text

    path = Path(file)
    if path.exists():
        raise UsageError("plan-exists", f"{file} is there already", "name another file")
    plan: dict[str, Any] = {"question": click.prompt("The question, in one sentence")}
    plan["kind"] = click.prompt("What kind of list is searched", default="list")
    plan["validFor"] = click.prompt("How long is the answer good for (30m, 12h, 7d)", default="7d")
    plan["criterion"] = _asked_criterion()
    plan["units"] = []
    while True:
        plan["units"].append(_asked_unit(len(plan["units"]) + 1))
        if not click.confirm("Another source?", default=False):
            break
    path.write_text(plan_text(plan), encoding="utf-8", errors="backslashreplace")
    try:
        plan_of(plan)
    except InputError as error:
        print_problems(error.errors, as_json=False)
        print_line(f"written to {file}; mend it there")
        return Exit.USAGE
    print_line(f"written to {file}; now: refold coverage build {file} --out receipt.json")
    return Exit.DONE


def _plan_of_flags(flags: dict[str, Any]) -> dict[str, Any]:
    """Give the plan that the options of one source are."""
    if flags["url"] is not None and flags["endpoint"] is not None:
        raise UsageError("two-sources", "--url and --endpoint together", "write a plan for several")
    if not flags["conditions"]:
        raise UsageError("no-criterion", "nothing to look for", "give --match FIELD OP VALUE")
    leaves = [leaf_of(*condition) for condition in flags["conditions"]]
    criterion: dict[str, Any] = {"match": leaves[0] if len(leaves) == 1 else {"all": leaves}}
    if flags["case_fold"]:
        criterion["caseFold"] = True
    unit: dict[str, Any] = {"id": "source"}
    if flags["url"] is not None:
        unit |= {"kind": "HTTP_JSON", "url": flags["url"], "arrayPath": flags["array_path"]}
        if flags["pages_by"] is not None:
            unit |= {"pagesBy": flags["pages_by"], "step": flags["step"]}
    else:
        fetch = "LIST_ONLY" if flags["list_only"] else "LIST_PLUS_DETAIL"
        unit |= {"kind": "MVC_PINS", "endpoint": flags["endpoint"], "path": flags["pin_path"] or ""}
        unit |= {"pageSize": flags["page_size"], "fetch": fetch}
    asked = " and ".join(" ".join(condition) for condition in flags["conditions"])
    question = flags["question"] or f"Is there an item with {asked}?"[:280]
    plan = {"question": question, "kind": flags["kind"], "validFor": flags["valid_for"]}
    return {**plan, "criterion": criterion, "units": [unit]}


def leaf_of(field: str, op: str, value: str) -> dict[str, Any]:
    """Give a condition; the value of exists is a boolean, of the others a text.

    A source may have `7` or `"7"`, and whoever types 7 does not know which: eq asks for both, as
    the wrong one alone would be found nowhere.
    """
    truths: dict[str, bool] = {"true": True, "false": False}
    if op == "exists":
        return {"field": field, "op": op, "value": truths.get(value, value)}
    told: dict[str, Any] = {"field": field, "op": op, "value": value}
    if op == "eq" and (value in truths or _INTEGER.fullmatch(value)):
        typed = truths[value] if value in truths else int(value)
        return {"any": [told, {"field": field, "op": op, "value": typed}]}
    return told


def _asked_criterion() -> dict[str, Any]:
    leaves = []
    while True:
        field = click.prompt("Which field of an item decides (a dot path)")
        op = click.prompt("How is it compared", type=click.Choice(OPERATORS), default="eq")
        wanted = "true or false" if op == "exists" else "With which text"
        leaves.append(leaf_of(field, op, click.prompt(wanted)))
        if not click.confirm("Another condition that must hold too?", default=False):
            break
    criterion: dict[str, Any] = {"match": leaves[0] if len(leaves) == 1 else {"all": leaves}}
    if click.confirm("Without regard to case?", default=False):
        criterion["caseFold"] = True
    return criterion


def _asked_unit(number: int) -> dict[str, Any]:
    kinds = ("HTTP_JSON", "MVC_PINS", "MANUAL")
    name = click.prompt("A name for the source", default=f"source-{number}")
    kind = click.prompt("What is it", type=click.Choice(kinds), default=kinds[0])
    unit: dict[str, Any] = {"id": name, "kind": kind}
    if kind == "HTTP_JSON":
        unit["url"] = click.prompt("The https URL of its first page")
        unit["arrayPath"] = click.prompt(
            "Where in a page the items are (a dot path; empty: the page is the array)",
            default="",
            show_default=False,
        )
        pages_by = click.prompt(
            "If it has no next links: the parameter in the URL that counts (page, offset)",
            default="",
            show_default=False,
        )
        if pages_by:
            unit["pagesBy"] = pages_by
            unit["step"] = click.prompt("By how much it grows", type=int, default=1)
    elif kind == "MVC_PINS":
        unit["endpoint"] = click.prompt("The https origin of the indexer")
        unit["path"] = click.prompt("The pin path")
        unit["pageSize"] = click.prompt("Pins a page (1 to 100)", type=int, default=100)
        details = click.confirm("Read the body of every pin?", default=True)
        unit["fetch"] = "LIST_PLUS_DETAIL" if details else "LIST_ONLY"
    else:
        unit["instructions"] = click.prompt("What a person has to do there")
    return unit
