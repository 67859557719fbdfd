#!/usr/bin/env python3
"""browser.py URL [--brief | --token TOKEN] - the dashboard in Chromium.

The server has what tests/t_pages.sh puts into it. Prints a line "ok - what" or "not ok - what" for
each check."""
import argparse
import json
import os
import sys
import time
from urllib.parse import urlencode

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

ODD_ENTITY = "<script>alert(1)</script>"
ODD_KEY = "a\"b'c\n<img src=x onerror=alert(2)>"
SLOT = "2026-03-01T13:15:00Z"
PAGES = {
    "home": "",
    "slots": "slots?range=7d",
    "slot": "slot?" + urlencode({"at": SLOT}),
    "checks": "checks?" + urlencode({"entity": ODD_ENTITY}),
    "check": "check?" + urlencode({"entity": ODD_ENTITY, "key": ODD_KEY}),
    "jobs": "jobs",
    "job": "job?name=bad",
    "failed": "failed",
    "schedules": "schedules",
    "schedule": "schedule?" + urlencode({"name": "stock \"of\" <b>"}),
    "audit": "audit",
    "events": "events",
    "new": "new",
}
PATIENCE = 20 * int(os.environ.get("PATIENCE", "1"))
# Runs before the page: counts its questions, its timers and what its policy refuses; `answers` may
# have an answer in the server's place.
WATCH = """
    window.refused = []; window.flying = 0; window.most = 0; window.asked = []; window.ages = {};
    window.timers = new Map();
    document.addEventListener("securitypolicyviolation", (e) => refused.push(e.violatedDirective));
    const answers = %s, ask = window.fetch, set = window.setTimeout, clear = window.clearTimeout;
    window.fetch = async (url, options) => {
        const name = new URL(url).pathname.split("/").pop();
        ages[name] = options.headers["Cache-Control"];
        asked.push([options.method, name, options.headers["X-CSRF-Token"] || null, options.body || null]);
        most = Math.max(most, ++flying);
        try {
            const [status, body] = (answers[name] || []).shift() || [];
            const text = body === null ? "<html>" : JSON.stringify(body);
            return status ? new Response(text, { status }) : await ask(url, options);
        } finally { flying--; }
    };
    window.setTimeout = (f, ms, ...rest) => {
        const id = set(() => { timers.delete(id); f(...rest); }, ms);
        timers.set(id, ms); return id; };
    window.clearTimeout = (id) => { timers.delete(id); clear(id); };
"""
failed = False


def says(what, is_so, found=""):
    global failed
    print(("ok - " if is_so else "not ok - ") + what)
    if not is_so:
        print(f"#   found:    {found!r}")
        failed = True


class Browser:
    """One Chromium; `zone` is where its reader is."""

    def __init__(self, url, zone="UTC", width=1280, scheme="light", answers=None):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--lang=en-US"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = Service("/usr/bin/chromedriver", env={**os.environ, "TZ": zone, "LC_ALL": "C.UTF-8"})
        self.url, self.width = url, width
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_script_timeout(PATIENCE)
        self.cdp("Emulation.setEmulatedMedia",
                 {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.cdp("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH % json.dumps(answers or {})})
        self.resize(900)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def cdp(self, command, parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def resize(self, height):
        self.cdp("Emulation.setDeviceMetricsOverride",
                 {"width": self.width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def js(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def wait(self, text, *arguments):
        """Until a condition in JavaScript holds."""
        end = time.monotonic() + PATIENCE
        while not self.js("return " + text, *arguments):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def open(self, path):
        self.driver.get(self.url + path)
        return self.settled()

    def settled(self):
        return self.wait("document.querySelector('h1') && flying === 0 && asked.length > 1 && "
                         "!document.querySelector('[aria-busy]') && "
                         "!document.body.innerText.includes('Asking ...')")

    def text(self, css):
        return self.js("return document.querySelector(arguments[0])?.textContent", css)

    def keys(self, *keys):
        """To what has the keyboard when they come: the page may be drawn anew at any moment."""
        for key in keys:
            chain = ActionChains(self.driver)
            if key.startswith(Keys.SHIFT):
                chain.key_down(Keys.SHIFT).send_keys(key[1:]).key_up(Keys.SHIFT)
            else:
                chain.send_keys(key)
            chain.perform()

    def focused(self):
        return self.js("const a = document.activeElement;"
                       "return a.id || a.getAttribute('href') || a.textContent.slice(0, 40)")

    def focused_label(self):
        return self.js("return document.activeElement.getAttribute('aria-label')")

    def complaints(self):
        return [line["message"] for line in self.driver.get_log("browser")
                if line["level"] in ("SEVERE", "WARNING")]

    def has_alert(self):
        try:
            return bool(self.driver.switch_to.alert)
        except NoAlertPresentException:
            return False

    def shot(self, folder, name):
        self.resize(min(max(self.js("return document.documentElement.scrollHeight"), 500), 1600))
        self.driver.save_screenshot(f"{folder}/{name}-{self.width}.png")
        self.resize(900)


def each_page(url, width, scheme):
    with Browser(url, width=width, scheme=scheme) as b:
        for name, path in PAGES.items():
            what = f"{name}, {scheme}, {width} px"
            says(f"{what}: it is shown", b.open(path), b.text("main"))
            says(f"{what}: nobody complains", not b.has_alert() and not b.complaints(), b.complaints())
            says(f"{what}: nothing is refused", b.js("return refused") == [], b.js("return refused"))
            says(f"{what}: one question at a time", b.js("return most") == 1, b.js("return [most, asked]"))
            wide = b.js("return document.documentElement.scrollWidth")
            says(f"{what}: it fits", wide <= width, wide)
            says(f"{what}: no text has become a script", b.js("return document.scripts.length") == 1)


def odd_texts(url):
    with Browser(url) as b:
        b.open(PAGES["check"])
        says("a key is shown as it is", b.text("h1 .key") == ODD_KEY, b.text("h1 .key"))
        says("and an entity", b.text("h1 .entity") == ODD_ENTITY, b.text("h1 .entity"))
        b.open("failed?" + urlencode({"entity": ODD_ENTITY}))
        says("among what failed, too", b.text("td .key") == ODD_KEY, b.text("td .key"))
        b.driver.find_element(By.CSS_SELECTOR, "td .key").click()
        says("its link leads there", b.settled() and b.text("h1 .key") == ODD_KEY, b.driver.current_url)
        b.open("")
        rows = b.js("return [...document.querySelectorAll('tbody tr')].map((r) => r.innerText)")
        says("the front page has the trouble", any("rehearsed to fail" in row for row in rows), rows)
        says("and says that something is amiss", "ended badly" in b.text(".verdict"), b.text(".verdict"))
        b.open("events")
        says("an event is shown", "order.late" in b.text("tbody"), b.text("tbody"))
        b.open("schedules")
        title = b.js("return document.querySelector('time[data-zone]')?.title || ''")
        says("a schedule has its next time in its zone", " Australia/Lord_Howe = " in title, b.text("tbody"))
        b.js("document.querySelector('tbody a[href^=\"schedule?\"]').click()")
        says("its page has ten", b.settled() and b.js(
            "return document.querySelectorAll('tbody time[data-zone=\"Australia/Lord_Howe\"]').length") == 10,
             b.text("main"))
        walls = b.js("return [...document.querySelectorAll('tbody time[data-zone]')]"
                     ".map((t) => t.textContent)")
        says("at the same hour, whatever the clocks do", all(w.endswith("06:30") for w in walls), walls)


def keyboard(url):
    with Browser(url) as b:
        b.open("")
        b.keys(Keys.TAB)
        says("the first key leads past the links", b.focused() == "#main", b.focused())
        b.keys(Keys.ENTER)
        says("to the page", b.wait("document.activeElement.id === 'main'"), b.focused())
        b.open("")
        reached = []
        for _ in range(40):
            b.keys(Keys.TAB)
            reached.append(b.focused())
        for control in ("slots", "new", "zone", "Look now", "failed?from=-1h"):
            says(f"the keyboard reaches {control}", control in reached, reached)
        b.open("slots")
        b.js("document.querySelector('summary').focus()")
        b.keys(Keys.ENTER)
        says("and opens the table of a chart",
             b.wait("document.querySelector('details[open] table tbody tr')"))
        says("where it is, is seen", b.js(
            "document.querySelector('#zone').focus({ focusVisible: true });"
            "return getComputedStyle(document.activeElement).outlineStyle") == "solid")

        b.open("checks")
        b.driver.find_element(By.ID, "filter-entity").send_keys("orders", Keys.ENTER)
        says("filters stand in the address", b.wait("location.search === '?entity=orders'"),
             b.driver.current_url)
        only = ("const r = [...document.querySelectorAll('tbody tr .entity')];"
                "return r.length > 0 && r.every((e) => e.textContent === 'orders')")
        says("and are followed", b.wait("(() => {%s})()" % only), b.text("tbody"))
        b.driver.refresh()
        says("a reload keeps them", b.settled() and b.js(
            "return document.querySelector('#filter-entity').value") == "orders" and b.js(only),
                 b.text("tbody"))
        b.driver.find_element(By.ID, "filter-entity").clear()
        b.driver.find_element(By.ID, "filter-entity").send_keys("none such", Keys.ENTER)
        says("what is not there is not found", b.wait("document.querySelector('main .nothing')"),
             b.text("main"))
        b.driver.back()
        says("who goes back has the old ones", b.wait("(() => {%s})()" % only), b.text("tbody"))
        b.open("checks?entity=orders&state=paused")
        says("a choice is kept, too",
             b.js("return document.querySelector('#filter-state').value") == "paused")


def new_check(url, year):
    """`year`: in which nothing waits yet."""
    with Browser(url, zone="Asia/Kathmandu") as b:
        b.open("new")
        b.driver.find_element(By.ID, "entity").send_keys("parcels", Keys.TAB)
        b.keys(f"it's {year}", Keys.TAB)
        b.keys("look", Keys.TAB)
        b.js("const w = document.querySelector('#when'); w.value = arguments[0] + '-03-01T19:00';"
             "w.dispatchEvent(new Event('input', { bubbles: true }))", str(year))
        says("its time is said in UTC, too", f"{year}-03-01T13:15:00Z" in b.text("#when-said"),
             b.text("#when-said"))
        says("what waits there is said", b.wait(
            "document.querySelector('form .hint:not([id])').textContent.startsWith('0 checks wait')"))
        says("the same as curl", f"\"key\":\"it'\\''s {year}\"" in b.text("#curl"), b.text("#curl"))
        says("the same as SQL", f"'it''s {year}', 'look', '{year}-03-01T13:15:00Z'" in b.text("#sql"),
             b.text("#sql"))
        b.driver.find_element(By.ID, "tenant").send_keys(Keys.ENTER)
        says("it is filed", b.wait("document.querySelector('#result').textContent.includes('is filed')"),
             b.text("#result"))
        b.driver.find_element(By.ID, "tenant").send_keys(Keys.ENTER)
        says("again, it is kept", b.wait("document.querySelector('#result').textContent.includes('is kept')"),
             b.text("#result"))
        b.driver.find_element(By.CSS_SELECTOR, "#result a[href^='check?']").click()
        says("and can be looked at", b.settled() and "it waits for its slot" in b.text(".sentence"),
             b.text("main"))
        says("why it waits is told in this zone", f"its slot, {year}-03-01 19:00 (" in b.text(".sentence"),
             b.text(".sentence"))
        b.open("new")
        b.driver.find_element(By.ID, "entity").send_keys("parcels")
        b.driver.find_element(By.ID, "key").send_keys("8")
        b.driver.find_element(By.ID, "job").send_keys("lok", Keys.ENTER)
        says("what is refused is told", b.wait(
            "document.querySelector('#result').textContent.includes(\"did you mean 'look'\")"),
                 b.text("#result"))


def zones(url):
    at = {"Asia/Kathmandu": [(SLOT, "2026-03-01 19:00", "+05:45")],
          "Australia/Lord_Howe": [("2026-04-04T14:45:00Z", "2026-04-05 01:45", "+11:00"),
                                  ("2026-04-04T15:15:00Z", "2026-04-05 01:45", "+10:30")]}
    for zone, moments in at.items():
        with Browser(url, zone=zone) as b:
            for moment, wall, offset in moments:
                b.open("slot?" + urlencode({"at": moment}))
                shown = b.text("h1 time")
                says(f"{zone}: {moment} is {wall}", shown.startswith(wall), shown)
                title = b.js("return document.querySelector('h1 time').title")
                says(f"{zone}: exactly {offset}", offset in title and moment in title, title)
            b.driver.find_element(By.ID, "zone").click()
            says(f"{zone}: or in UTC", b.text("h1 time").startswith(moment[:10] + " " + moment[11:16]),
                 b.text("h1 time"))
            b.driver.refresh()
            b.settled()
            says(f"{zone}: which is remembered", b.text("#zone") == "Times: UTC", b.text("#zone"))
    with Browser(url, zone="Australia/Lord_Howe") as b:
        b.open("new")
        for wall, said in (("2026-10-04T02:15", "skip that time"), ("2026-04-05T01:45", "first of the two")):
            b.js("const w = document.querySelector('#when'); w.value = arguments[0];"
                 "w.dispatchEvent(new Event('input', { bubbles: true }))", wall)
            says(f"{wall}: {said}", said in b.text("#when-said"), b.text("#when-said"))


def typed_times(url):
    """Into filters, as they are read on the page. One of orders waits: 43."""
    keys = "[...document.querySelectorAll('tbody .key')].map((k) => k.textContent).join()"
    fields = "['from', 'before'].map((n) => document.querySelector('#filter-' + n).value).join()"
    with Browser(url, zone="Asia/Kathmandu") as b:
        b.open("checks?entity=orders")
        zone = b.js("return Intl.DateTimeFormat().resolvedOptions().timeZone")      # or its older name
        shown = b.text("tbody td time")
        at = b.js("return document.querySelector('tbody td time').dateTime.slice(0, 16)")
        says("a filter says whose clocks it means", b.text("label[for=filter-from]") == f"Due from ({zone})",
             b.text("form"))
        b.driver.find_element(By.ID, "filter-from").send_keys(shown)
        b.driver.find_element(By.ID, "filter-before").send_keys(f"{shown}:59", Keys.ENTER)
        asked = "?" + urlencode({"entity": "orders", "from": f"{at}:00Z", "before": f"{at}:59Z"})
        says("an address has them in UTC", b.wait("location.search === arguments[0]", asked),
             b.driver.current_url)
        says("what is typed as it is shown finds that", b.settled() and b.js("return " + keys) == "43",
             b.text("main"))
        says("and stands there as it was typed", b.js("return " + fields) == f"{shown},{shown}:59",
             b.js("return " + fields))
        b.js("document.querySelector('button[aria-label^=Cancel]').click()")
        says("a change of all that match tells them with the zone", b.wait(
            "document.querySelector('#dialog-title')?.textContent === arguments[0]", "Cancel: entity orders, "
            f"from {shown} {zone}, before {shown}:59 {zone}"), b.text("#dialog-title"))
        says("and counts the same", b.wait("document.querySelector('#counted')") and
             b.text("#counted").startswith("1 check match"), b.text("dialog"))
        b.driver.find_element(By.ID, "leave").click()
        b.driver.find_element(By.ID, "filter-before").clear()
        b.driver.find_element(By.ID, "filter-before").send_keys("2026-03-01 19:00")
        b.driver.find_element(By.ID, "zone").click()
        says("another zone is that of the filters, also of what was not searched for yet",
             b.js("return " + fields) == at.replace("T", " ") + ",2026-03-01 13:15" and
             b.text("label[for=filter-from]") == "Due from (UTC)", b.text("form"))
        says("and searches for nothing else", b.js("return location.search") == asked)
        b.driver.refresh()
        utc = at.replace("T", " ")
        says("a reload shows them there, too", b.settled() and b.js("return " + fields) == f"{utc},{utc}:59",
             b.js("return " + fields))
        b.driver.find_element(By.ID, "zone").click()
        for page in ("failed", "audit", "events"):
            b.open(f"{page}?from=2026-03-01")
            says(f"/{page}: a day of an address is that of UTC",
                 b.js("return document.querySelector('#filter-from').value") == "2026-03-01 05:45",
                 b.text("form"))
        b.open("failed?from=-1h")
        b.driver.find_element(By.ID, "filter-job").send_keys("bad", Keys.ENTER)
        says("what counts from now on stays", b.wait("location.search === '?job=bad&from=-1h'"),
             b.driver.current_url)


HIDE = """Object.defineProperty(document, "hidden", { value: arguments[0], configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));"""


def shared(url):
    with Browser(url) as b:
        b.open("jobs")
        ages = b.js("return ages")
        says("a page takes answers that others have got", ages["jobs"] == "max-age=15", ages)
        b.driver.find_element(By.XPATH, "//button[text()='Look now']").click()
        says("who looks now gets new ones", b.wait("ages.jobs === 'max-age=0'"), b.js("return ages"))


# Answers are a hundred seconds old from here on.
OLD = """const ask = window.fetch;
         window.fetch = async (...of) => {
             const answer = await ask(...of), headers = new Headers(answer.headers);
             headers.set("Age", "100");
             const body = answer.status === 304 ? null : answer.body;
             return new Response(body, { status: answer.status, headers });
         };
         document.dispatchEvent(new Event("changed"));"""


def ages(url):
    with Browser(url) as b:
        b.open("slot?" + urlencode({"at": SLOT}))
        b.js(OLD)
        says("a page says how old its numbers are, also those of its list", b.wait(
            "[...document.querySelectorAll('.asked')].filter((e) => /1 min 4\\d s ago/"
            ".test(e.textContent)).length === 2"), b.text("main"))


def ended_looks(url):
    life = {"checks": [], "runs": [], "history": [], "events": [], "scanned_to": SLOT}
    with Browser(url, answers={"check": [[200, life]]}) as b:
        b.open(PAGES["check"])
        says("a page of a row says how far was looked", b.js(
            "return [...document.querySelectorAll('.hint')].some((h) => "
            "h.textContent === 'Looked as far as 2026-03-01 13:15: of what is older, not all may be here.')"),
             b.text("main"))


def hidden_tabs(url):
    waits = "return [...timers.values()].some((ms) => ms > 1000)"
    with Browser(url) as b:
        b.open("")
        says("who looks is told again", b.js(waits))
        b.js(HIDE, True)
        says("a tab that is hidden asks nothing", not b.js(waits), b.js("return [...timers.values()]"))
        b.js(HIDE, False)
        says("until somebody looks", b.js(waits))


def rights(url):
    who = {"role": "operate", "name": "eve", "read_only": True, "csrf_token": None}
    read_only = {"session": [[200, who]]}
    with Browser(url, answers=read_only) as b:
        b.open("new")
        says("where nothing can be changed, nothing is offered",
             b.js("return document.querySelectorAll('button[type=submit]').length") == 0)
        says("and it is said", "read-only" in b.text("#banner") and b.js("return !banner.hidden"),
             b.text("#banner"))
    who = [200, {"role": "operate", "name": "eve", "read_only": False, "csrf_token": "c7"}]
    login = {"session": [[401, {"detail": "a token is needed"}], who],
             "login": [[401, {"detail": "that is no token"}], who]}
    with Browser(url, answers=login) as b:
        b.driver.get(url + "new")
        says("who needs a token is asked for one", b.wait("document.activeElement.id === 'token'"),
             b.text("body"))
        b.keys("wrong", Keys.ENTER)
        says("a wrong one is told",
             b.wait("document.querySelector('.login')?.textContent.includes('no token')"))
        b.keys("right", Keys.ENTER)
        says("a right one opens the page", b.wait("!document.querySelector('.login')") and b.settled())
        b.driver.find_element(By.ID, "entity").send_keys("parcels")
        b.driver.find_element(By.ID, "key").send_keys("9")
        b.driver.find_element(By.ID, "job").send_keys("look", Keys.ENTER)
        b.wait("asked.some((a) => a[0] === 'POST' && a[1] === 'checks')")
        posts = b.js("return asked.filter((a) => a[0] === 'POST')")
        says("each change has the token of its session", posts[-1][1:3] == ["checks", "c7"], posts)
        says("a log-in has the reader's", [p[3] for p in posts[:2]] == ['{"token":"wrong"}',
             '{"token":"right"}'],
             posts)


def first_question(url):
    """A page whose question who asks is not answered, three times: once by a proxy's page."""
    away = [503, {"detail": "the store is away"}]
    sessions = "asked.filter((a) => a[1] === 'session').length"
    with Browser(url, answers={"session": [away, [200, None], away]}) as b:
        b.driver.get(url + "new")
        says("why nothing is offered is said", b.wait("!document.querySelector('#banner').hidden") and
             "the store is away" in b.text("#banner"), b.text("body"))
        says("nothing is shown that may not be offered", b.text("main") == "New check", b.text("main"))
        b.wait(f"{sessions} === 2 && flying === 0 && [...timers.values()].includes(5000)")
        says("what is no answer is told of, too", "is no answer of this server. What you may do here is "
             "not known; asked again in 5 s." in b.text("#banner"), b.text("body"))
        b.js(HIDE, True)
        says("it is asked again", b.wait("![...timers.values()].includes(5000)"), b.js("return asked"))
        says("but not by a tab that is hidden", b.js(f"return {sessions}") == 2, b.js("return asked"))
        b.js(HIDE, False)
        says("until somebody looks", b.wait(f"{sessions} === 3"), b.js("return asked"))
        says("the answer opens the page", b.settled() and b.wait(
            "document.querySelector('button[type=submit]')?.textContent === 'File it'"), b.text("body"))
        says("and the banner is gone", b.js("return document.querySelector('#banner').hidden"))


def tokens(url, token):
    """At a server that knows one token, of role read."""
    with Browser(url) as b:
        b.driver.get(url + "new")
        says("a server with tokens asks for one", b.wait("document.activeElement.id === 'token'"),
             b.text("body"))
        b.keys(Keys.ESCAPE)
        says("who leaves that is told how to come back",
             b.wait("document.querySelector('#banner').textContent === 'You are not logged in. Log in'"),
             b.text("body"))
        says("and sees nothing", b.text("main") == "New check", b.text("main"))
        b.driver.find_element(By.ID, "login").click()
        b.wait("document.activeElement.id === 'token'")
        b.keys("prescient_0", Keys.ENTER)
        says("a wrong one is refused", b.wait("document.querySelector('.login [role=alert]')"
                                              ".textContent.includes('token')"), b.text("body"))
        b.driver.find_element(By.ID, "token").clear()
        b.driver.find_element(By.ID, "token").send_keys(token, Keys.ENTER)
        says("a right one is not", b.settled() and b.text("h1") == "New check", b.text("body"))
        says("who may read is offered nothing else",
             b.js("return document.querySelectorAll('button[type=submit]').length") == 0)
        b.open("checks")
        says("the next page knows the reader", not b.js("return document.querySelector('.login')"),
             b.text("body"))
        b.driver.find_element(By.ID, "logout").click()
        says("who logs out is out", b.wait("document.querySelector('#token')"), b.text("body"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--brief", action="store_true", help="without what is the same below any path")
    parser.add_argument("--token", help="of a reader, at a server that wants one: nothing else is tried")
    asked = parser.parse_args()
    url = asked.url.rstrip("/") + "/"
    if asked.token:
        tokens(url, asked.token)
        return 1 if failed else 0
    each_page(url, 1280, "light")
    if not asked.brief:
        each_page(url, 320, "dark")
    odd_texts(url)
    keyboard(url)
    new_check(url, 2098 if asked.brief else 2099)
    rights(url)
    if not asked.brief:
        shared(url)
        ages(url)
        ended_looks(url)
        hidden_tabs(url)
        first_question(url)
        zones(url)
        typed_times(url)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
