"""The tables of docs/trials-format.md and docs/trials.md: head and rows, made from the code's."""

from refold.trials import BLOCKERS, CODES, FORMATS, LIMITS, NODE, SITES, Field, Site
from refold.trials.admission import ADMISSION_CODES
from refold.trials.archive.claims import NOT_PROVEN
from refold.trials.archive.codes import WRONGS
from refold.trials.leaks import LEAKS
from refold.trials.limits import RATES

Shown = tuple[tuple[str, ...], list[tuple[str, ...]]]

_REPLIES = {"trial": "a trial", "run": "a run", None: "nothing"}


def _value(field: Field) -> str:
    if field.values:
        return ", ".join(f"`{word}`" for word in field.values)
    return {"id": "a message id from 1", "classes": "list of classes"}.get(field.form, field.form)


def _form(site: Site) -> str:
    host = site.raw_host or site.host
    return "/".join((host, "REPOSITORY", *site.raw, "REF", "FILE"))


SHOWN: dict[str, Shown] = {
    "trials-posts": (
        ("marker", "replies to", "what it is"),
        [(f"`{f.marker}`", _REPLIES[f.parent], f.says) for f in FORMATS.values()],
    ),
    "trials-fields": (
        ("post", "field", "needed", "value", "what it says"),
        [
            (form.kind, f"`{f.name}`", "yes" if f.required else "", _value(f), f.says)
            for form in FORMATS.values()
            for f in form.fields
        ]
        + [("each", f"`{NODE.name}`", "", NODE.form, NODE.says)],
    ),
    "trials-blockers": (
        ("class", "what the agent met"),
        [(f"`{name}`", says) for name, says in BLOCKERS.items()],
    ),
    "trials-limits": (
        ("what", "limit", "why"),
        [(one.says, f"{one.value:,} {one.unit}".strip(), one.reason) for one in LIMITS],
    ),
    "trials-sites": (
        ("host", "raw form of a file, which reporters read"),
        [(f"`{site.host}`", f"`{_form(site)}`") for site in SITES],
    ),
    "trials-codes": (
        ("code", "what it says", "what to do"),
        [
            (f"`{code}`{' (warning)' if row.warning else ''}", row.says, row.remedy)
            for code, row in CODES.items()
        ],
    ),
    "trials-admission": (
        ("code", "what it says", "what to do"),
        [(f"`{code}`", row.says, row.remedy) for code, row in ADMISSION_CODES.items()],
    ),
    "trials-archive": (
        ("exit code", "code", "what it says", "what to do"),
        [(f"{row.exit}", f"`{code}`", row.says, row.remedy) for code, row in WRONGS.items()],
    ),
    "trials-not-proven": (
        ("of", "not proven"),
        [(kind, says) for kind, texts in NOT_PROVEN.items() for says in texts],
    ),
    "trials-leaks": (
        ("rule", "what it finds"),
        [(f"`{leak.name}`", leak.says) for leak in LEAKS],
    ),
    "trials-rates": (
        ("limit", "of each", "how many", "why"),
        [
            (
                *(f"`{rate.id}`", rate.who),
                *(f"{rate.count:,} {rate.says} in {rate.seconds:,} s", rate.reason),
            )
            for rate in RATES
        ],
    ),
}
