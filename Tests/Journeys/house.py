"""What the journeys share: a folder with a console to go through, people with browsers, and what is looked at on every page."""

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


def token(number):
    return f"{number:064x}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    """Until something listens there."""
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"nothing listens at port {port}")


def launch(kind, *settings):
    """Chromium, with more settings than usual."""
    arguments = ["--no-sandbox", "--disable-dev-shm-usage", *settings]
    return kind.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=arguments)


class House:
    """A folder with a campaign, the simulator that its app points to, and the console."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="volley-journey-"))
        self.processes = []
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"

    def open(self, people, console=""):
        """Starts everything. `people` have passwords here, by name and role; `console` is what volley.yaml says of the console."""
        ledger = self.folder / "ledger.jsonl"
        simulator = self.start("simulate", "--port", "0", "--ledger", str(ledger), "--json", "--for", "600", "--latency", "20", stdout=subprocess.PIPE)
        about = self.first_document(simulator)
        (self.folder / "devices.csv").write_text(self.export())
        (self.folder / "volley.yaml").write_text(
            f"{console}apps:\n  shop:\n    topic: com.example.shop\n"
            f"    key: {{file: {about['key']}, id: SIMULATOR1, team: VOLLEYTEAM}}\n"
            f"    environment: {{url: \"{about['url']}\", ca: simulator-ca.pem}}\n"
            "    approval: required\n    devices: devices.csv\n    pace: 1/s\n"
            f"    test_devices: [\"{token(1)}\"]\n"
        )
        (self.folder / "spring-sale.yaml").write_text(
            "# Agreed with Anna.\nname: spring-sale\napp: shop\ndescription: Half price\naudience:\n  tags: [vip]   # only these\ncontent:\n  title: Spring\n  body: It is here\n"
        )
        self.links = {name: self.invite(name, role) for name, role in people.items()}
        self.serve()

    def export(self):
        """The devices of the app."""
        rows = (f"{token(n)},{'vip' if n % 2 else 'new'},{'Anna' if n % 3 else ''}\n" for n in range(1, DEVICES + 1))
        return "token,tags,first_name\n" + "".join(rows)

    def campaign(self, name, link, tags):
        """One more campaign file."""
        (self.folder / f"{name}.yaml").write_text(
            f"name: {name}\napp: shop\naudience:\n  tags: {json.dumps(tags)}\ncontent:\n  title: {name}\n  body: It is here\n  link: {link}\n"
        )

    def serve(self):
        self.console = self.start("serve", ".", "--listen", f"127.0.0.1:{self.port}")
        wait_for(self.port)

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
    """A person with a browser of their own, in which nothing may go wrong unseen."""

    # A form that is refused, or a conflict, is an answer and no trouble.
    answers = "409|422|403|404"

    def __init__(self, browser, house, name, **options):
        self.house = house
        self.name = name
        self.scheme = options.get("color_scheme", "light")
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.trouble(message.text))
        self.page.on("pageerror", lambda error: self.trouble(str(error)))

    def trouble(self, text):
        if not re.search(f"status of ({self.answers})", text):
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

    @staticmethod
    def until(holds):
        """Until something is so, for at most a minute."""
        for _ in range(300):
            if holds():
                return
            time.sleep(0.2)
        raise TimeoutError("it did not come about")

    def look(self, person, name):
        """A picture, and what axe-core finds, in light and dark."""
        page = person.page
        page.wait_for_timeout(100)
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            for violation in self.axe.run(page).response["violations"]:
                nodes = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
                self.check(False, f"{name}, {scheme}: {violation['id']}: {violation['help']}: {nodes}")
        page.emulate_media(color_scheme=person.scheme)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.check(wide <= 0, f"{name} is {wide} px wider than the window")
        codes = "[...document.querySelectorAll('main code:not(.guide *)')].map(code => code.textContent).filter(text => text.startsWith('volley '))"
        commands = page.evaluate(codes)
        self.check(not commands, f"{name} names commands, which people at a browser do not have: {commands}")
        if self.pictures:
            page.screenshot(path=str(self.pictures / f"{name}.png"), full_page=True)



def travel(kind, house, walk):
    """Walks through the house in Chromium, and ends this process: with 1 if anything was not as it must be.

    The first argument of the process is the folder of the programs, which the house has already; the second one keeps pictures.
    """
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    expect.set_options(timeout=15_000)
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright.chromium)
            journey = kind(browser, house, pictures)
            walk(journey)
            browser.close()
    finally:
        house.end()
    for failure in journey.failures:
        print(f"✘ {failure}")
    outcome = "passed" if not journey.failures else f"{len(journey.failures)} failed"
    print(f"{outcome} after {time.monotonic() - began:.0f} s")
    sys.exit(1 if journey.failures else 0)
