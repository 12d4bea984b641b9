"""The catalogue of messages: gettext's .po files, read as they are, so that nothing is compiled.

English messages are their own keys. Each folder of `locale` has a file for every other language,
`zh.po`, or several (`zh.NAME.po`). Only what we use of the format is read: comments, msgid,
msgid_plural, msgstr, msgstr[n], texts over several lines. Anything else is refused: files are ours.
Source: architecture.md (two languages, one catalogue).
"""

import ast
import gettext
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from refold.kernel.errors import UsageError
from refold.serving.language import DEFAULT_LANGUAGE, LANGUAGES

__all__ = ["Catalogue", "catalogues", "files_of", "read_po"]

_LINE = re.compile(r'(?:(msgid|msgid_plural|msgstr|msgstr\[\d\]) )?("(?:[^"\\]|\\.)*")')


class Catalogue(gettext.NullTranslations):
    """The messages of one language. What has no translation stays English."""

    def __init__(self, language: str, messages: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.language = language
        self._messages = dict(messages)

    def gettext(self, message: str) -> str:
        """Give a message in this language."""
        found = self._messages.get(message)
        return found[0] if found else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Give the message for a number. Of the languages we have only English has two forms."""
        found = self._messages.get(msgid1)
        return found[0] if found else super().ngettext(msgid1, msgid2, n)


def catalogues(folders: Iterable[Path]) -> dict[str, Catalogue]:
    """Give a catalogue for each language, from the `locale` of each folder that has one.

    Raises UsageError `catalogue`.
    """
    folders = list(folders)
    found = {}
    for language in LANGUAGES:
        messages: dict[str, tuple[str, ...]] = {}
        for folder in folders:
            if language == DEFAULT_LANGUAGE:
                continue
            for path in files_of(folder, language):
                messages |= read_po(path.read_text(encoding="utf-8"), str(path))
        found[language] = Catalogue(language, messages)
    return found


def files_of(folder: Path, language: str) -> list[Path]:
    """Give the files of a folder that hold messages of its pages: `zh.po`, `zh.NAME.po`."""
    return sorted((folder / "locale").glob(f"{language}*.po"))


def read_po(text: str, name: str) -> dict[str, tuple[str, ...]]:
    """Give each message of a .po file with its translations; those without one are left out.

    Raises UsageError `catalogue`, which names the line.
    """
    messages: dict[str, tuple[str, ...]] = {}
    entry: dict[str, str] = {}
    keyword = ""
    for number, line in enumerate([*text.splitlines(), 'msgid ""'], start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None or (match[1] is None and not keyword):
            raise UsageError("catalogue", f"{name}, line {number} is not read", "mend it")
        if match[1] == "msgid":
            _keep(entry, messages, f"{name}, before line {number}")
            entry = {}
        keyword = match[1] or keyword
        entry[keyword] = entry.get(keyword, "") + str(ast.literal_eval(match[2]))
    return messages


def _keep(entry: Mapping[str, str], messages: dict[str, tuple[str, ...]], where: str) -> None:
    msgid = entry.get("msgid", "")
    if not msgid:  # the header, or nothing yet
        return
    if msgid in messages:
        raise UsageError("catalogue", f"{where}: {msgid!r} stands twice", "keep one")
    forms = tuple(entry[key] for key in sorted(entry) if key.startswith("msgstr"))
    if forms and all(forms):
        messages[msgid] = forms
