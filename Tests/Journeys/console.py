"""A campaign in the console, from an empty file to its report, in a real Chromium: by two people, each in a browser of their own.

Usage: console.py BIN_FOLDER [SCREENSHOT_FOLDER]. BIN_FOLDER holds volley and volley-console. Ends with 1 if anything is not as it must be.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

PASSWORD = "wooden spoon under seven lanterns"
DEVICES = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class House:
    """A folder with a campaign, the simulator that its app points to, and the console."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="volley-journey-"))
        self.processes = []

    def open(self):
        ledger = self.folder / "ledger.jsonl"
        simulator = self.start("simulate", "--port", "0", "--ledger", str(ledger), "--json", "--for", "600", "--latency", "20", stdout=subprocess.PIPE)
        about = self.first_document(simulator)
        token = lambda number: f"{number:064x}"
        rows = "".join(f"{token(n)},{'vip' if n % 2 else 'new'}\n" for n in range(1, DEVICES + 1))
        (self.folder / "devices.csv").write_text("token,tags\n" + rows)
        (self.folder / "volley.yaml").write_text(
            "apps:\n  shop:\n    topic: com.example.shop\n"
            f"    key: {{file: {about['key']}, id: SIMULATOR1, team: VOLLEYTEAM}}\n"
            f"    environment: {{url: \"{about['url']}\", ca: simulator-ca.pem}}\n"
            "    approval: required\n    devices: devices.csv\n    pace: 1/s\n"
            f"    test_devices: [\"{token(1)}\"]\n"
        )
        (self.folder / "spring-sale.yaml").write_text(
            "# Agreed with Anna.\nname: spring-sale\napp: shop\ndescription: Half price\naudience:\n  tags: [vip]   # only these\ncontent:\n  title: Spring\n  body: It is here\n"
        )
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        self.links = {name: self.invite(name, role) for name, role in [("edith", "editor"), ("ben", "approver"), ("anna", "administrator")]}
        self.console = self.start("serve", ".", "--listen", f"127.0.0.1:{self.port}")
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                time.sleep(0.1)

    @staticmethod
    def first_document(process):
        """What a program prints first, as JSON."""
        text = ""
        while True:
            line = process.stdout.readline()
            assert line, f"it ended: {text}"
            text += line
            try:
                return json.loads(text)
            except json.JSONDecodeError:
                continue

    def start(self, *arguments, **options):
        process = subprocess.Popen([str(self.programs / "volley"), *arguments], cwd=self.folder, text=True, **options)
        self.processes.append(process)
        return process

    def invite(self, name, role):
        found = subprocess.run(
            [str(self.programs / "volley"), "serve", ".", "--listen", f"127.0.0.1:{self.port}", "--invite", name, "--role", role],
            cwd=self.folder, text=True, capture_output=True, check=True,
        )
        return re.search(r"http\S+", found.stdout).group()

    def accepted(self):
        """What the simulator says it took."""
        lines = (self.folder / "ledger.jsonl").read_text().splitlines()
        return [json.loads(line)["token"] for line in lines if json.loads(line).get("status") == 200]

    def end(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(30)
        shutil.rmtree(self.folder)


class Person:
    """Somebody with a browser of their own, in which nothing may go wrong unseen."""

    def __init__(self, browser, house, name, **options):
        self.house = house
        self.name = name
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.trouble(message.text))
        self.page.on("pageerror", lambda error: self.trouble(str(error)))

    def trouble(self, text):
        # A form that is refused, or a conflict, is an answer and no trouble.
        if not re.search(r"status of (409|422|403|404)", text):
            self.troubles.append(f"{self.name} at {self.page.url}: {text}")

    def enter(self):
        page = self.page
        page.goto(self.house.links[self.name])
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("The same again").fill(PASSWORD)
        page.get_by_role("button", name="Use this password").click()
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Today")).to_be_visible()

    def go(self, path):
        self.page.goto(self.house.origin + path)


class Journey:
    def __init__(self, browser, house, pictures):
        self.browser, self.house, self.pictures = browser, house, pictures
        self.failures = []
        self.axe = Axe()

    def check(self, condition, what):
        if not condition:
            self.failures.append(what)
            print(f"  not so: {what}", flush=True)

    def look(self, person, name):
        """A picture, and what axe-core finds."""
        page = person.page
        page.wait_for_timeout(100)
        found = self.axe.run(page).response["violations"]
        for violation in found:
            nodes = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
            self.check(False, f"{name}: {violation['id']}: {violation['help']}: {nodes}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.check(wide <= 0, f"{name} is {wide} px wider than the window")
        codes = "[...document.querySelectorAll('main code')].map(code => code.textContent).filter(text => text.startsWith('volley '))"
        commands = page.evaluate(codes)
        self.check(not commands, f"{name} names commands, which people at a browser do not have: {commands}")
        if self.pictures:
            page.screenshot(path=str(self.pictures / f"{name}.png"), full_page=True)

    # One campaign, from its first line to its report.
    def campaign(self):
        edith, ben = (Person(self.browser, self.house, name, viewport={"width": 1280, "height": 900}) for name in ("edith", "ben"))
        edith.enter()
        ben.enter()
        page = edith.page
        self.look(edith, "today")
        edith.go("/campaigns")
        self.look(edith, "campaigns")
        page.get_by_role("link", name="spring-sale").click()
        self.look(edith, "campaign")
        page.get_by_role("link", name="Edit the source").click()
        source = page.get_by_label("Source")
        text = source.input_value()
        source.fill(text.replace("title: Spring", "titel: Spring"))
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_text("Line 8, column")).to_be_visible()
        self.look(edith, "mistake")
        self.check("titel" not in (self.house.folder / "spring-sale.yaml").read_text(), "a check saves nothing")
        page.get_by_label("Source").fill(text)
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_text("No mistakes in the text.")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        self.check((self.house.folder / "spring-sale.yaml").read_text() == text, "a check and a save change nothing by themselves")
        edith.go("/campaign/form?file=spring-sale.yaml")
        page.get_by_label("Title", exact=True).fill("Spring: it's here")
        self.look(edith, "form")
        page.get_by_role("button", name="Save").click()
        expect(page).to_have_url(re.compile("saved=1"))
        saved = (self.house.folder / "spring-sale.yaml").read_text()
        self.check(saved == text.replace("title: Spring", 'title: "Spring: it\'s here"'), f"one value changed: {saved}")
        page.get_by_role("link", name="History").click()
        self.look(edith, "history")
        page.get_by_role("link", name="spring-sale").click()
        page.get_by_role("link", name="Preview").click()
        expect(page.get_by_text("Preview · nothing was sent")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("30 devices").first).to_be_visible()
        self.look(edith, "preview")
        page.get_by_role("link", name="Back to the campaign").click()
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_role("heading", name="spring-sale")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("finished").first).to_be_visible(timeout=30_000)
        self.check(len(self.house.accepted()) == 1, "the test went to the one test device")
        edith.go("/campaign?file=spring-sale.yaml")
        page.get_by_role("button", name="Plan and ask for approval").dblclick()
        expect(page.get_by_role("heading", name="The plan")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("This plan waits for the approval")).to_be_visible()
        run = page.url.split("/runs/")[1].split("#")[0]
        self.look(edith, "plan")
        plans = [path.name for path in (self.house.folder / "runs").glob("*spring-sale*.sqlite") if "-test" not in path.name]
        self.check(len(plans) == 2, f"a double click made one plan: {plans}")
        edith.go("/campaigns/new")
        page.get_by_label("Name", exact=True).fill("autumn")
        page.get_by_label("Title", exact=True).fill("Autumn")
        self.look(edith, "new")
        page.get_by_role("button", name="Go on").click()
        page.get_by_label("Sent at").fill("01.12.2026 9:00")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Not saved: there are mistakes")).to_be_visible()
        self.look(edith, "form-mistake")
        # Another person approves it, and sends it.
        ben.go("/")
        ben.page.get_by_role("link", name="spring-sale").first.click()
        self.look(ben, "approve")
        ben.page.get_by_role("button", name="Approve").click()
        expect(ben.page.get_by_text("Approve: done").or_(ben.page.get_by_role("heading", name="Send")).first).to_be_visible(timeout=30_000)
        expect(ben.page.get_by_role("button", name="Send")).to_be_visible(timeout=30_000)
        ben.page.get_by_label("To go on, type the number of devices").fill("31")
        ben.page.get_by_role("button", name="Send").click()
        expect(ben.page.get_by_text("That is not the number of devices")).to_be_visible()
        self.look(ben, "mistyped")
        ben.page.get_by_label("To go on, type the number of devices").fill("30")
        ben.page.get_by_role("button", name="Send").click()
        expect(ben.page.get_by_role("button", name="Pause")).to_be_visible(timeout=30_000)
        self.look(ben, "sending")
        ben.page.get_by_role("button", name="Pause").click()
        expect(ben.page.get_by_role("button", name="Resume")).to_be_visible(timeout=30_000)
        self.look(ben, "paused")
        time.sleep(1)
        held = len(self.house.accepted())
        time.sleep(1.5)
        self.check(len(self.house.accepted()) == held < 31, f"paused, nothing more is sent: {held}")
        ben.page.get_by_role("button", name="Resume").click()
        expect(ben.page.get_by_role("link", name="Read the report")).to_be_visible(timeout=30_000)
        expect(ben.page.get_by_text("finished").first).to_be_visible(timeout=90_000)
        ben.page.get_by_role("link", name="Read the report").click()
        self.look(ben, "report")
        accepted = self.house.accepted()
        self.check(len(accepted) == 31 and len(set(accepted)) == 30, f"each of 30 got it once, and the test device its test: {len(accepted)}")
        expect(ben.page.get_by_text("All 30 devices got it.")).to_be_visible()
        for person in (edith, ben):
            self.failures += person.troubles
        return run

    # Two tabs, one file.
    def conflict(self):
        anna = Person(self.browser, self.house, "anna", viewport={"width": 1280, "height": 900})
        anna.enter()
        first, second = anna.page, anna.context.new_page()
        for page in (first, second):
            page.goto(self.house.origin + "/campaign/edit?file=spring-sale.yaml")
        source = first.get_by_label("Source")
        source.fill(source.input_value() + "# from the first tab\n")
        first.get_by_role("button", name="Save").click()
        expect(first).to_have_url(re.compile("saved=1"))
        source = second.get_by_label("Source")
        source.fill(source.input_value() + "# from the second tab\n")
        second.get_by_role("button", name="Save").click()
        expect(second.get_by_role("heading", name="Somebody else was faster")).to_be_visible()
        anna.page = second
        self.look(anna, "conflict")
        text = (self.house.folder / "spring-sale.yaml").read_text()
        self.check("first tab" in text and "second tab" not in text, "the second tab overwrote nothing")
        self.failures += anna.troubles
        return anna

    # Every page at every size, in light and dark.
    def sizes(self, anna, run):
        paths = [
            "/", "/campaigns", "/campaign?file=spring-sale.yaml", "/campaign/form?file=spring-sale.yaml", "/campaign/edit?file=spring-sale.yaml",
            "/campaign/history?file=spring-sale.yaml", "/campaign/preview?file=spring-sale.yaml", "/campaigns/new", "/calendar", "/runs",
            f"/runs/{run}", f"/runs/{run}/report", "/system",
        ]
        state = anna.context.storage_state()
        for width, scheme in [(390, "light"), (390, "dark"), (1280, "dark"), (320, "light")]:
            visitor = Person(self.browser, self.house, "anna", viewport={"width": width, "height": 844}, color_scheme=scheme, storage_state=state)
            for path in paths:
                visitor.go(path)
                visitor.page.wait_for_load_state()
                name = re.sub(r"[^a-z]+", "-", path.split("?")[0].replace(run, "run")).strip("-") or "today"
                self.look(visitor, f"{width}-{scheme}-{name}")
            self.failures += visitor.troubles

    # Without scripts, and by keyboard alone.
    def plain(self, anna):
        state = anna.context.storage_state()
        bare = Person(self.browser, self.house, "anna", java_script_enabled=False, storage_state=state)
        bare.go("/campaign?file=spring-sale.yaml")
        bare.page.get_by_role("button", name="Plan and ask for approval").click()
        for _ in range(100):
            if "/runs/" in bare.page.url:
                break
            time.sleep(0.3)
            bare.page.get_by_role("link", name="Refresh").click()
        self.check("/runs/" in bare.page.url, "without scripts, a plan is reached by its link")
        keys = Person(self.browser, self.house, "anna", storage_state=state, viewport={"width": 1280, "height": 900})
        keys.go("/campaigns")
        page = keys.page
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == "spring-sale":
                break
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="spring-sale")).to_be_visible()
        outline = page.evaluate("(() => { const a = document.querySelector('main a'); a.focus(); return getComputedStyle(a).outlineStyle })()")
        self.check(outline != "none", "what has the focus is seen")
        self.failures += bare.troubles + keys.troubles


def main():
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    house = House(sys.argv[1])
    try:
        house.open()
        with sync_playwright() as playwright:
            options = {"args": ["--no-sandbox", "--disable-dev-shm-usage"]}
            browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), **options)
            journey = Journey(browser, house, pictures)
            run = journey.campaign()
            anna = journey.conflict()
            journey.sizes(anna, run)
            journey.plain(anna)
            browser.close()
    finally:
        house.end()
    for failure in journey.failures:
        print(f"✘ {failure}")
    print("passed" if not journey.failures else f"{len(journey.failures)} failed")
    sys.exit(1 if journey.failures else 0)


main()
