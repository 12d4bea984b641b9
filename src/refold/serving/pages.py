"""Pages: Jinja2 templates with everything escaped, in the languages of the catalogue.

Templates of a part stand in its folder, `templates/NAME/…`, so that their names do not meet. What
every page may use: `_` and `ngettext`, `lang`, `here` (`refold.serving.here`), `asset(name)`,
`site_url(path)`, `menus`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import refold
from refold.serving.answers import View
from refold.serving.assets import STYLE, Assets
from refold.serving.catalogue import Catalogue, catalogues, files_of
from refold.serving.here import Here
from refold.serving.language import LANGUAGES
from refold.serving.menu import Menu

__all__ = ["HERE", "Pages", "environment"]

KEPT_BYTES = 32 * 1024 * 1024
"""Pages that are kept."""
KEY_BYTES = 8 * 1024
"""What the key of a kept page takes besides: mostly the text that the page shows."""

HERE = Path(__file__).parent
"""The folder with the base templates, the style and the catalogue."""


def environment(folders: Iterable[Path], catalogue: Catalogue) -> Environment:
    """Give an environment for templates in one language: all is escaped, nothing may be missing."""
    env = Environment(
        loader=FileSystemLoader([folder / "templates" for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    env.policies["ext.i18n.trimmed"] = True
    env.filters["number"] = _number
    env.install_gettext_translations(catalogue, newstyle=True)  # type: ignore[attr-defined]
    return env


class Pages:
    """Renders templates. `folders` are those of the parts; ours stands before them.

    `digest` names the templates and texts that pages are made of, `preload` is the header that
    has a browser ask for the style before it reads the page.
    """

    def __init__(self, folders: Sequence[Path] = (), *, origin: str = "") -> None:
        folders = [HERE, *folders]
        self.assets = Assets(folders)
        self.digest = _digest(folders)
        self.preload = f"<{self.assets.path(STYLE)}>; rel=preload; as=style".encode()
        self.catalogues = catalogues(folders)
        self._environments = {
            language: environment(folders, catalogue)
            for language, catalogue in self.catalogues.items()
        }
        for language, env in self._environments.items():
            env.globals |= {
                "lang": language,
                "languages": LANGUAGES,
                "asset": self.assets.path,
                "site_url": lambda path: origin + path,
                "menus": (),
                "refold_version": refold.__version__,
                "_": _translating(self.catalogues[language]),
            }
        self._kept: dict[Hashable, bytes] = {}
        self._room = KEPT_BYTES

    def set_menus(self, menus: Sequence[Menu]) -> None:
        """Give the menus of the parts that have pages."""
        for env in self._environments.values():
            env.globals["menus"] = tuple(menus)

    def shown(self, view: View, here: Here) -> bytes:
        """Give the page of a view as UTF-8, from memory where the same was made before."""
        if view.made_of is None:
            return self.render(view.template, here, _data(view))
        key = (view.template, here.address, view.made_of)
        kept = self._kept.get(key)
        if kept is None:
            kept = self.render(view.template, here, _data(view))
            self._kept[key] = kept
            self._room -= len(kept) + KEY_BYTES
            while self._room < 0:
                self._room += len(self._kept.pop(next(iter(self._kept)))) + KEY_BYTES
        return kept

    def render(self, template: str, here: Here, data: Mapping[str, object]) -> bytes:
        """Give a page as UTF-8."""
        page = self._environments[here.lang].get_template(template)
        return page.render(data, here=here).encode()


def _data(view: View) -> Mapping[str, object]:
    return view.data() if callable(view.data) else view.data


def _translating(catalogue: Catalogue) -> Callable[..., Markup]:
    """Give `_` of the templates: messages are ours and may be HTML, their variables are escaped.

    The one that comes with the templates does the same in three times the time, and a page has
    some fifty of them.
    """
    known: dict[str, Markup] = {}

    def translate(message: str, /, **variables: object) -> Markup:
        found = known.get(message)
        if found is None:
            found = known[message] = Markup(catalogue.gettext(message))  # noqa: S704 (see above)
        return found % variables if variables else found

    return translate


def _number(value: int) -> str:
    """Give an integer with its thousands apart."""
    return f"{value:,}"


def _digest(folders: Sequence[Path]) -> str:
    made_of = [path for folder in folders for path in sorted(folder.glob("templates/**/*.html"))]
    made_of += [path for folder in folders for name in LANGUAGES for path in files_of(folder, name)]
    return sha256(b"\0".join(path.read_bytes() for path in made_of)).hexdigest()[:16]
