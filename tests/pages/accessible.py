#!/usr/bin/env python3
"""accessible.py URL --axe FILE [--empty | --login] - axe-core looks at the dashboard in Chromium.

FILE is axe.min.js. Each page is looked at as it comes, with all of its details open, and with the
dialog of each kind of button it has. --empty: the store has nothing, so there are no dialogs; --login:
the server wants a token, and only its form is looked at. Prints a line "ok - what" or "not ok - what"
for each look."""
import argparse
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import browser
from browser import PAGES, Browser, says

VIEWS = [(width, scheme) for scheme in ("light", "dark") for width in (1280, 320)]
LOOK = """
    const done = arguments[0];
    axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations
        .filter((v) => ['serious', 'critical'].includes(v.impact))
        .map((v) => [v.id, v.nodes.map((n) => [n.target.join(' '), n.html, n.any.map((a) => a.message)])])),
        (wrong) => done(String(wrong)));
"""
# One button of each word, as tables have many of the same.
BUTTONS = """
    const seen = new Set();
    return [...document.querySelectorAll('main button')].filter((b) => b.getAttribute('aria-label') &&
        !seen.has(b.textContent) && seen.add(b.textContent)).map((b) => b.getAttribute('aria-label'));
"""
PRESS = """
    const b = [...document.querySelectorAll('main button')]
        .find((b) => b.getAttribute('aria-label') === arguments[0]);
    b.focus(); b.click();
"""


def look(b, axe, what):
    if not b.js("return typeof window.axe === 'object'"):
        b.js(axe)
    found = b.driver.execute_async_script(LOOK)
    says(f"{what}: axe finds nothing serious", found == [], found)


def dialogs(b, axe, what):
    for label in b.js(BUTTONS):
        b.js(PRESS, label)
        says(f"{what}: {label!r} asks", b.wait("document.querySelector('dialog[open]')"), b.text("body"))
        look(b, axe, f"{what}, the dialog {label!r}")
        b.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
        b.wait("!document.querySelector('dialog')")


def pages(url, axe, is_empty):
    for width, scheme in VIEWS:
        with Browser(url, width=width, scheme=scheme) as b:
            for name, path in PAGES.items():
                what = f"{'empty ' if is_empty else ''}{name}, {scheme}, {width} px"
                says(f"{what}: it is shown", b.open(path), b.text("main"))
                look(b, axe, what)
                b.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                look(b, axe, f"{what}, all open")
                if not is_empty:
                    dialogs(b, axe, what)


def trouble(url, axe):
    """A page whose question is not answered, and one for a reader who may change nothing."""
    answers = {"status": [[503, {"detail": "the store is away"}]],
               "session": [[200, {"role": "operate", "name": "eve", "read_only": True}]]}
    for _, scheme in VIEWS[::2]:
        with Browser(url, scheme=scheme, answers=answers) as b:
            b.driver.get(url)
            says(f"trouble, {scheme}: it is told", b.wait("document.querySelector('main .trouble')"),
                 b.text("body"))
            look(b, axe, f"trouble, {scheme}")


def login(url, axe):
    for width, scheme in VIEWS:
        with Browser(url, width=width, scheme=scheme) as b:
            b.driver.get(url)
            says(f"log-in, {scheme}, {width} px: it is asked for", b.wait("document.querySelector('#token')"))
            look(b, axe, f"log-in, {scheme}, {width} px")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--axe", required=True)
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("--login", action="store_true")
    asked = parser.parse_args()
    with open(asked.axe, encoding="utf-8") as file:
        axe = file.read()
    url = asked.url.rstrip("/") + "/"
    if asked.login:
        login(url, axe)
    else:
        pages(url, axe, asked.empty)
        if not asked.empty:
            trouble(url, axe)
    return 1 if browser.failed else 0


if __name__ == "__main__":
    sys.exit(main())
