"""Debian's Chromium with a page that listens: what ran, what was asked for, what was opened.

Where there is no Chromium, tests are skipped with one line, unless `REFOLD_BROWSER=required`: then
they fail (architecture.md, Stack: tests).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, Dialog, Request, Route, sync_playwright

ORIGIN: Final = "http://reader.test"
PATH: Final = shutil.which("chromium")
_MISSING = "no chromium on this machine: apt-get install chromium"
_FLAGS = (
    "--no-sandbox",  # as root, as in containers
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
# Set before anything of a page runs, and out of reach of its policy.
_TRAP = """
window.__ran = [];
window.trap = (...said) => { window.__ran.push(String(said)); };
for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) window[name] = window.trap;
"""
# What a reader may do, and a little more.
_TOUCH = """
async () => {
  // To go elsewhere by a link is no harm; only what would run something goes on.
  addEventListener('click', event => {
    const link = event.target.closest && event.target.closest('a[href]');
    if (link && link.protocol && link.protocol !== 'javascript:') event.preventDefault();
  }, true);
  for (const element of document.querySelectorAll('main, main *')) {
    for (const name of ['mouseover', 'mouseenter', 'mousemove', 'pointerdown', 'focus', 'keydown'])
      element.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}));
    if (element.focus) element.focus();
    if (element.click) element.click();
    else element.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
  }
  // What was set off runs before the second next picture of the page.
  const picture = () => new Promise(requestAnimationFrame);
  await picture();
  await picture();
  await new Promise(done => setTimeout(done));
  return window.__ran;
}
"""


def need_chromium() -> None:
    """Skip a whole module, in one line, where there is no browser and none has to be."""
    if PATH is None and os.environ.get("REFOLD_BROWSER") != "required":
        pytest.skip(_MISSING, allow_module_level=True)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser."""
    if PATH is None:
        pytest.fail(_MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH, args=list(_FLAGS))
        yield browser
        browser.close()


class Trap:
    """Shows HTML as a page of a site, with its headers, and tells what it tried."""

    def __init__(self, browser: Browser) -> None:
        self._context = browser.new_context(service_workers="block")
        self._context.add_init_script(_TRAP)
        self._context.route("**/*", self._answer)
        self._page = self._context.new_page()
        self._page.on("dialog", self._dialog)
        self._html = ""
        self._headers: dict[str, str] = {}
        self._heard: list[str] = []

    def close(self) -> None:
        self._context.close()

    def show(self, html: str, headers: dict[str, str]) -> list[str]:
        """Give what ran and what was asked for while HTML was shown and touched everywhere."""
        self._html, self._headers, self._heard = html, headers, []
        self._page.goto(f"{ORIGIN}/", wait_until="load")
        ran: list[str] = self._page.evaluate(_TOUCH)
        return [*(f"ran: {said}" for said in ran), *self._heard]

    def _dialog(self, dialog: Dialog) -> None:
        self._heard.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _answer(self, route: Route, request: Request) -> None:
        is_visit = request.is_navigation_request() and request.frame.parent_frame is None
        if is_visit and request.url == f"{ORIGIN}/":
            page = (
                f'<!doctype html><html lang="en"><title>t</title><main>{self._html}</main></html>'
            )
            headers = {"content-type": "text/html; charset=utf-8", **self._headers}
            route.fulfill(body=page, headers=headers)
        elif is_visit:  # the page stays
            route.fulfill(status=204)
        else:
            self._heard.append(f"asked for: {request.url}")
            route.abort()
