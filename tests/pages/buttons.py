#!/usr/bin/env python3
"""buttons.py URL [--read-only | --token TOKEN] - the buttons of the dashboard in Chromium.

The server has what tests/t_pages_change.sh puts into it. Prints a line "ok - what" or "not ok -
what" for each check."""
import json
import sys
import urllib.request
from urllib.parse import urlencode

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import browser
from browser import ODD_ENTITY, ODD_KEY, Browser, says

BULK = 1200
ODD_JOB = "o'dd \"job\""
ODD_SCHEDULE = "stock \"of\" <script>alert(3)</script> 'x'"
SAID = "document.querySelector('dialog #said')?.textContent || ''"
HAS = "(%s).includes(arguments[0])" % SAID


class Api:
    """The same server, asked as a program asks."""

    def __init__(self, url, token=None):
        self.url = url
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path, **query):
        asks = urllib.request.Request(f"{self.url}v1/{path}?{urlencode(query)}", headers=self.headers)
        with urllib.request.urlopen(asks, timeout=60) as answer:
            return json.load(answer)

    def count(self, **query):
        """Of checks that wait."""
        found, after = 0, None
        while True:
            page = self.get("checks", limit=1000, **query, **({"after": after} if after else {}))
            found += len(page["items"])
            after = page["next"]
            if after is None:
                return found


FIND = ("[...document.querySelectorAll('main button')].find((n) => "
        "(n.getAttribute('aria-label') || n.textContent) === arguments[0])")


def named(b, label):
    """Until there is a button of that name. The page may be drawn anew at any moment, and have
    another one of that name then: what is done with it is done by one call."""
    says(f"there is a button: {label}", b.wait(FIND, label), b.text("main"))


def press(b, label):
    named(b, label)
    b.js(f"const one = {FIND}; one.focus(); one.click()", label)
    says("it asks first", b.wait("document.querySelector('dialog[open]')"), b.text("body"))


def go(b, word):
    b.wait("!document.querySelector('#go').disabled")
    says(f"the button says: {word}", b.text("#go") == word, b.text("#go"))
    b.driver.find_element(By.ID, "go").click()


def leave(b):
    b.driver.find_element(By.ID, "leave").click()
    says("the dialog is gone", b.wait("!document.querySelector('dialog')"), b.text("body"))


def nobody_complains(b, what):
    says(f"{what}: nobody complains", not b.has_alert() and not b.complaints() and
         b.js("return refused") == [] and b.js("return document.scripts.length") == 1,
         (b.complaints(), b.js("return refused")))


def a_group(url, api):
    with Browser(url) as b:
        b.open("failed?entity=bulk")
        label = b.js("return document.querySelector('td.actions button').getAttribute('aria-label')")
        says("it has no ids", label == "Retry fails: failed, carrier # of order # is away", label)
        says("nothing of it waits", api.count(entity="bulk") == 0)
        press(b, label)
        says("how many is told first", b.wait("document.querySelector('#counted')") and
             b.text("#counted").startswith(f"{BULK} checks match"), b.js("return " + SAID))
        says("and nothing was done", api.count(entity="bulk") == 0)
        b.driver.find_element(By.ID, "reason").send_keys("the carrier is back")
        go(b, f"Retry {BULK} checks")
        says("all are done", b.wait(HAS, f"All done: {BULK} changed"), b.js("return " + SAID))
        says("the bar is at its end", b.js("const p = document.querySelector('#bar');"
                                           "return !p.hidden && p.value === p.max && p.max") == BULK)
        says("a thousand a call", len([a for a in b.js("return asked") if a[1] == "retry"]) == 4,
             b.js("return asked"))
        says("they wait", api.count(entity="bulk") == BULK)
        says("others of that job were left alone", api.count(entity="apart") == 0)
        leave(b)
        says("the filters stay", b.js("return location.search") == "?entity=bulk")
        change = api.get("audit", entity="bulk", limit=1)["items"][0]
        says("the audit has it", (change["change"], change["reason"]) == ("retry", "the carrier is back"),
             change)
        nobody_complains(b, "a group")


def reach(b, label):
    """By the keyboard alone, from the top of the page."""
    b.wait("[...document.querySelectorAll('main button')].some((n) => n.getAttribute('aria-label') === "
           "arguments[0])", label)
    for _ in range(400):
        b.keys(Keys.TAB)
        if b.focused_label() == label:
            return
    says(f"the keyboard reaches {label}", False, b.focused())


def by_keyboard(url, api):
    with Browser(url) as b:
        b.open("failed?entity=bulk")
        label = b.js("return document.querySelector('td.actions button').getAttribute('aria-label')")
        reach(b, label)
        b.keys(Keys.ENTER)
        says("by keyboard: how many is told", b.wait("document.querySelector('#counted')") and
             b.text("#counted").startswith(f"{BULK} checks match"), b.js("return " + SAID))
        says("by keyboard: the button has it", b.wait("document.activeElement.id === 'go'"), b.focused())
        for _ in range(10):         # past the examples, which are links
            b.keys(Keys.SHIFT + Keys.TAB)
            if b.focused() == "reason":
                break
        b.keys("again")
        says("by keyboard: why can be said",
             b.js("return document.querySelector('#reason').value") == "again")
        b.keys(Keys.ENTER)
        says("by keyboard: what waits already is left", b.wait(HAS, f"0 changed, {BULK} left as they were"),
             b.js("return " + SAID))
        b.keys(Keys.ENTER)
        says("by keyboard: it closes", b.wait("!document.querySelector('dialog')"))
        says("by keyboard: back where it was", b.focused_label() == label, b.focused_label())
        b.open("jobs")
        for word, outcome in (("Pause", "It is paused"), ("Resume", "It goes on")):
            reach(b, f"{word} job look")
            b.keys(Keys.ENTER)
            says(f"by keyboard: {word} asks", b.wait("document.querySelector('dialog[open]')"))
            b.keys(Keys.ENTER)
            says(f"by keyboard: {outcome}", b.wait(HAS, outcome), b.js("return " + SAID))
            b.keys(Keys.ENTER)
            says("by keyboard: it closes", b.wait("!document.querySelector('dialog')"))
        says("nothing is paused", api.get("status")["pauses"] == [])


def stopped(url, api):
    """All that match a filter are moved, stopped behind the first thousand, and then gone on with."""
    with Browser(url) as b:
        b.open("checks?entity=bulk")
        press(b, "Reschedule all that match")
        says("a time is asked for", b.wait("document.querySelector('dialog #time')"))
        b.js("const t = document.querySelector('#time'); t.value = '2099-03-01T13:15';"
             "t.dispatchEvent(new Event('input', { bubbles: true }))")
        says("how many is told first", b.wait("document.querySelector('#counted')"), b.js("return " + SAID))
        # pressed while the first call is under way
        b.js("const ask = window.fetch; window.fetch = (...of) => {"
             "  document.querySelector('#leave').click(); window.fetch = ask; return ask(...of); }")
        go(b, f"Reschedule {BULK} checks")
        says("it can be stopped", b.wait(HAS, "Stopped: 1000 changed"), b.js("return " + SAID))
        moved = api.count(entity="bulk", **{"from": "2099-01-01"})
        says("what was done is done", moved == 1000, moved)
        says("the time stays as it is", b.js("return document.querySelector('#time').disabled"))
        go(b, "Go on")
        says("it goes on", b.wait(HAS, f"All done: {BULK} changed"), b.js("return " + SAID))
        moved = api.count(entity="bulk", **{"from": "2099-01-01"})
        says("up to the end", moved == BULK, moved)
        leave(b)
        says("the list has the new time", b.wait(
            "document.querySelector('tbody tr td time').textContent.startsWith('2099-03-01')"),
             b.text("tbody"))
        says("the filters stay", b.js("return location.search") == "?entity=bulk")


def one_row(url, api):
    """All by keyboard."""
    with Browser(url) as b:
        page = "check?" + urlencode({"entity": ODD_ENTITY, "key": ODD_KEY})
        b.open(page)
        of = f"{ODD_JOB} of {ODD_ENTITY} {ODD_KEY}"

        def by_keys(label, *keys):
            named(b, label)
            b.js(FIND + ".focus()", label)
            b.keys(Keys.ENTER)
            says("it asks first", b.wait("document.querySelector('dialog[open]')"), b.text("body"))
            says("the keyboard is in it", b.js(
                "return document.querySelector('dialog').contains(document.activeElement)"), b.focused())
            b.keys(*keys)

        by_keys(f"Cancel {of}", Keys.ESCAPE)
        says("Escape leaves it", b.wait("!document.querySelector('dialog')"))
        says("as it was", api.count(entity=ODD_ENTITY) == 1)
        says("the keyboard is where it was", b.focused_label() == f"Cancel {of}", b.focused_label())
        by_keys(f"Reschedule {of}", Keys.ENTER)
        says("it is moved", b.wait(HAS, "done, it waits for"), b.js("return " + SAID))
        b.keys(Keys.ENTER)
        says("Enter closes it", b.wait("!document.querySelector('dialog')"))
        by_keys(f"Cancel {of}", Keys.ENTER)
        says("it is cancelled", b.wait(HAS, "done"), b.js("return " + SAID))
        b.keys(Keys.ENTER)
        says("the page knows it", b.wait("document.querySelector('.sentence').textContent.includes("
                                         "'cancelled')"), b.text("main"))
        says("it waits no more", api.count(entity=ODD_ENTITY) == 0)
        says("the keyboard is still on the page", b.js("return document.activeElement !== document.body"))
        nobody_complains(b, "one row")
        b.open("check?entity=apart&key=1")
        by_keys("Retry fails of apart 1", Keys.ENTER)
        says("what has failed is filed again", b.wait(HAS, "done"), b.js("return " + SAID))
        says("and waits", api.count(entity="apart") == 1)


def tried_again(url, api):
    with Browser(url) as b:
        b.open("failed?entity=again")
        press(b, "Cancel all that match")
        says("what is tried again is counted", b.wait("document.querySelector('#counted')") and
             b.text("#counted").startswith("2 checks match"), b.js("return " + SAID))
        go(b, "Cancel 2 checks")
        says("it is cancelled", b.wait(HAS, "All done: 2 changed"), b.js("return " + SAID))
        leave(b)
        says("nothing of it waits", api.count(entity="again") == 0)


def a_job(url, api):
    def paused():
        return [(p["what"], p["name"], p["reason"]) for p in api.get("status")["pauses"]]
    with Browser(url) as b:
        b.open("jobs")
        named(b, "Pause job look")
        b.open("job?" + urlencode({"name": ODD_JOB}))
        press(b, f"Pause job {ODD_JOB}")
        b.driver.find_element(By.ID, "reason").send_keys("<b>why</b>")
        go(b, "Pause")
        says("a job is paused", b.wait(HAS, "It is paused"), b.js("return " + SAID))
        says("as the store knows", paused() == [("job", ODD_JOB, "<b>why</b>")], paused())
        leave(b)
        named(b, f"Resume job {ODD_JOB}")
        says("its page says why", "<b>why</b>" in (b.text(".sentence") or ""), b.text("main"))
        press(b, f"Resume job {ODD_JOB}")
        go(b, "Resume")
        says("it goes on", b.wait(HAS, "It goes on"), b.js("return " + SAID))
        says("as the store knows", paused() == [], paused())
        leave(b)
        named(b, f"Pause job {ODD_JOB}")
        nobody_complains(b, "a job")


def a_schedule(url, api):
    def of():
        return next(s for s in api.get("schedules")["items"] if s["name"] == ODD_SCHEDULE)
    with Browser(url) as b:
        b.open("schedules")
        before = of()["check_at"]
        press(b, f"Run once now: schedule {ODD_SCHEDULE}")
        go(b, "Run now")
        says("a schedule is run once", b.wait(HAS, "done, it waits for"), b.js("return " + SAID))
        says("its check is due before", of()["check_at"] < before, of())
        leave(b)
        press(b, f"Off: schedule {ODD_SCHEDULE}")
        go(b, "Off")
        says("it is switched off", b.wait(HAS, "Done."), b.js("return " + SAID))
        says("as the store knows", not of()["is_active"])
        leave(b)
        press(b, f"On: schedule {ODD_SCHEDULE}")
        go(b, "On")
        says("and on", b.wait(HAS, "Done.") and of()["is_active"], b.js("return " + SAID))
        leave(b)
        nobody_complains(b, "a schedule")


def a_delivery(url, api):
    with Browser(url) as b:
        for page in ("check?entity=told&key=1", "events?failed=1"):
            b.open(page)
            of = api.get("deliveries", failed="1")["items"][0]
            says("a delivery has its state, tries and error", b.wait(
                "[...document.querySelectorAll('tbody tr')].some((r) => ['bad', arguments[0], '1'].every("
                "(w) => [...r.cells].some((c) => c.textContent === w)))", of["state"]), b.text("main"))
            if page.startswith("check"):
                press(b, f"Deliver again: {of['delivery']}")
                go(b, "Deliver again")
                says("it is sent again", b.wait(HAS, "It is sent again"), b.js("return " + SAID))
                leave(b)
        of = api.get("deliveries")["items"][0]
        says("as the store knows", of["state"] == "waiting", of)


def refusals(url):
    away = {"detail": "the store is away or takes no writes; send it again later"}
    wrong = {"detail": "reason has 5000 bytes",
             "errors": [{"pointer": "/reason", "detail": "too <b>long</b>"}]}
    three = {"matched": 3, "changed": 0, "examples": [], "next": None}
    done = {"matched": 3, "changed": 3, "kept": 0, "not_found": 0, "next": None}
    answers = {"cancel": [[503, away], [200, three], [503, away], [422, wrong], [200, done]]}
    with Browser(url, answers=answers) as b:
        b.open("checks?entity=none")
        press(b, "Cancel all that match")
        says("a count that fails is told", b.wait(HAS, "the store is away"), b.js("return " + SAID))
        go(b, "Count")
        go(b, "Cancel 3 checks")
        says("what goes wrong is told in words", b.wait(HAS, "the store is away"), b.js("return " + SAID))
        go(b, "Cancel 3 checks")
        says("with what is at fault", b.wait(HAS, "/reason too <b>long</b>"), b.js("return " + SAID))
        go(b, "Cancel 3 checks")
        says("and can be sent again", b.wait(HAS, "All done: 3 changed"), b.js("return " + SAID))


def logged_in(b, url, token, page):
    b.driver.get(url + page)
    says(f"/{page} asks for a token", b.wait("document.activeElement.id === 'token'"), b.text("body"))
    b.keys(token, Keys.ENTER)
    says("and is shown then", b.wait("!document.querySelector('#token')") and b.settled(), b.text("body"))


TO_TYPE = "document.activeElement.id === 'token' && document.querySelector('#token').checkVisibility()"
ASKED = "asked.filter((a) => a[0] === 'POST' && a[1] === arguments[0]).length === arguments[1]"


def session_ends(url, token):
    """While a dialog is open. Its log-in can be typed into, or be left."""
    api = Api(url, token)
    with Browser(url) as b:
        logged_in(b, url, token, "checks?entity=bulk")
        b.driver.delete_all_cookies()
        press(b, "Cancel all that match")
        says("who has to log in can, above a dialog", b.wait(TO_TYPE), b.focused())
        b.keys(token, Keys.ENTER)
        says("and what was asked for goes on", b.wait("document.querySelector('dialog #counted')"),
             b.text("body"))
        b.driver.delete_all_cookies()
        go(b, f"Cancel {BULK} checks")
        says("a change waits for a log-in, too", b.wait(TO_TYPE), b.focused())
        b.keys(Keys.ESCAPE)
        says("Escape leaves that", b.wait("!document.querySelector('#token')"), b.text("body"))
        says("and it is told", b.wait(HAS, "needs a token"), b.js("return " + SAID))
        says("a change that was left is not sent", b.js("return " + ASKED, "cancel", 4), b.js("return asked"))
        b.wait("!document.querySelector('#go').disabled")
        leave(b)
        b.js("document.dispatchEvent(new Event('changed'))")
        says("what the page asks by itself is told", b.wait("document.querySelector('main .trouble')"),
             b.text("main"))
        says("and asks for no token again", not b.js("return document.querySelector('#token')"))
        says("but by a banner", b.wait("!document.querySelector('#banner').hidden"), b.text("#banner"))
        b.driver.find_element(By.ID, "login").click()
        b.wait(TO_TYPE)
        b.keys(token, Keys.ENTER)
        says("which leads back", b.wait("document.querySelector('#banner').hidden && "
                                        "document.querySelectorAll('tbody tr').length > 0"), b.text("body"))
        says("what was left was not done", api.count(entity="bulk") == BULK)
        nobody_complains_but_of(b, 401)


def stopped_before(url, token):
    """A dialog that is stopped while the answer is on its way that somebody has to log in."""
    with Browser(url) as b:
        logged_in(b, url, token, "jobs")
        press(b, "Pause job look")
        b.driver.delete_all_cookies()
        b.js("const ask = window.fetch; window.fetch = (...of) => {"
             "  document.querySelector('#leave').click(); window.fetch = ask; return ask(...of); }")
        go(b, "Pause")
        says("it is over", b.wait("document.querySelector('#leave').textContent === 'Leave it'"),
             b.text("dialog"))
        says("nothing asks for a token", not b.js("return document.querySelector('#token')"))
        says("it was not sent again", b.js("return " + ASKED, "pause", 1), b.js("return asked"))
        b.keys(Keys.ESCAPE)
        says("the dialog is gone", b.wait("!document.querySelector('dialog')"), b.text("body"))


def waits_for_its_turn(url, token):
    """A change that is stopped behind a question that waits for a log-in is never sent."""
    with Browser(url) as b:
        logged_in(b, url, token, "jobs")
        press(b, "Pause job look")
        b.driver.delete_all_cookies()
        b.js("document.dispatchEvent(new Event('changed'))")
        says("the page asks for a token, above the dialog", b.wait(TO_TYPE), b.focused())
        b.js("document.querySelector('#go').click(); document.querySelector('#leave').click()")
        b.keys(token, Keys.ENTER)
        says("what was stopped is told", b.wait(HAS, "nothing was done"), b.js("return " + SAID))
        says("and was not sent", b.js("return " + ASKED, "pause", 0), b.js("return asked"))
        leave(b)


def nobody_complains_but_of(b, status):
    found = [line for line in b.complaints() if f"status of {status}" not in line]
    says("nobody complains", not found and b.js("return refused") == [], found)


PAGES = ["", "checks", "check?entity=bulk&key=1", "jobs", "job?name=fails", "failed", "schedules", "events",
         "new"]
BUTTONS = """return [...document.querySelectorAll('main button')].map((b) => b.textContent).filter((word) =>
    !['Look now', 'Search', 'Copy', 'Show more', 'Look further', 'Look further back', 'Read on',
      'Go towards the end'].includes(word))"""


def read_only(url):
    """At a server where nothing can be changed."""
    with Browser(url) as b:
        for path in PAGES:
            b.open(path)
            says(f"read-only, /{path}: nothing is offered", b.js(BUTTONS) == [], b.js(BUTTONS))
            says(f"read-only, /{path}: and it is said", "read-only" in b.text("#banner") and
                 b.js("return !document.querySelector('#banner').hidden"), b.text("#banner"))


def main():
    url = sys.argv[1].rstrip("/") + "/"
    if "--read-only" in sys.argv:
        read_only(url)
        return 1 if browser.failed else 0
    if "--token" in sys.argv:
        token = sys.argv[sys.argv.index("--token") + 1]
        session_ends(url, token)
        stopped_before(url, token)
        waits_for_its_turn(url, token)
        return 1 if browser.failed else 0
    api = Api(url)
    a_group(url, api)
    by_keyboard(url, api)
    stopped(url, api)
    one_row(url, api)
    tried_again(url, api)
    a_job(url, api)
    a_schedule(url, api)
    a_delivery(url, api)
    refusals(url)
    return 1 if browser.failed else 0


if __name__ == "__main__":
    sys.exit(main())
