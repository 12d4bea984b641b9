"""Pages: Jinja2 templates with everything escaped, in the languages of the catalogue.

Templates of a part stand in its folder, `templates/NAME/…`, so that their names do not meet. What
every page may use: `_` and `ngettext`, `lang`, `asset(name)`, `nav`, `site_url(path)`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from refold.serving.assets import Assets
from refold.serving.catalogue import Catalogue, catalogues
from refold.serving.language import LANGUAGES

__all__ = ["HERE", "Pages", "environment"]

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
    env.install_gettext_translations(catalogue, newstyle=True)  # type: ignore[attr-defined]
    return env


class Pages:
    """Renders templates. `folders` are those of the parts; ours stands before them."""

    def __init__(self, folders: Sequence[Path] = (), *, origin: str = "") -> None:
        folders = [HERE, *folders]
        self.assets = Assets(folders)
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
                "nav": (),
            }

    def set_nav(self, nav: Sequence[object]) -> None:
        """Give the links of the menu."""
        for env in self._environments.values():
            env.globals["nav"] = tuple(nav)

    def render(self, template: str, language: str, data: Mapping[str, object]) -> bytes:
        """Give a page as UTF-8."""
        return self._environments[language].get_template(template).render(data).encode()
