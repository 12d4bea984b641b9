"""The language of a page: asked for in the address, else negotiated (RFC 9110 §12.5.4)."""

from refold.kernel.errors import InputError

__all__ = ["DEFAULT_LANGUAGE", "LANGUAGES", "language_of"]

LANGUAGES = ("en", "zh")
"""English is the language of the sources; each other one has a catalogue."""
DEFAULT_LANGUAGE = "en"
_MAX_RANGES = 30
"""Ranges of Accept-Language that are looked at."""


def language_of(named: str, accept_language: str) -> str:
    """Give one of LANGUAGES: the one that `?lang=` names, else the one the browser prefers most.

    Raises InputError `query-value` for a name that is none of them; a header is never wrong.
    """
    if named:
        if named not in LANGUAGES:
            raise InputError(
                "query-value",
                "lang is none of our languages",
                f"give one of {', '.join(LANGUAGES)}",
                "/lang",
            )
        return named
    best, best_weight = DEFAULT_LANGUAGE, 0.0
    for piece in accept_language.split(",")[:_MAX_RANGES]:
        tag, _, parameter = piece.partition(";")
        language = tag.strip().lower().partition("-")[0]
        if language == "*":
            language = DEFAULT_LANGUAGE
        weight = _weight(parameter)
        if language in LANGUAGES and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if not name:
        return 1.0
    try:
        weight = float(value) if name.strip().lower() == "q" else 0.0
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
