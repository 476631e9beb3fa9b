"""Campaigns are written, changed and approved in the composer, in a real Chromium: with a mouse, a finger, the keyboard alone, without
scripts, with large text, on a slow network, after the end of a session, and by two people at once.

Usage: composer.py BIN_FOLDER [SCREENSHOT_FOLDER], as console.py.
"""

import datetime
import json
import re
import sqlite3
import subprocess
import sys
import time

import yaml
from playwright.sync_api import expect

from hands import Finger, Keyboard, Mouse
from house import PASSWORD, House, Journey, Person, token, travel

DAY = (datetime.date.today() + datetime.timedelta(days=4)).isoformat()
# What a marketer was asked for, and a file that a person wrote from the same words.
BRIEF = """
name: winter-sale
app: shop
audience:
  tags: [vip]
  exclude: {tags: [unsubscribed]}
content:
  title: Winter sale
  body: Half price until Sunday.
  languages:
    de: {title: Winterschluss, body: Bis Sonntag zum halben Preis.}
    fr: {title: Soldes, body: Tout à moitié prix.}
variants:
  long: {share: 45}
  short: {share: 45, content: {body: Half price!}}
  holdout: {share: 10}
schedule:
  at: DAY 09:00
  timezone: recipient
  fallback_timezone: Europe/Berlin
""".replace("DAY", DAY)
MOST_ACTIONS, MOST_TAPS = 30, 4

HARVEST = """# Agreed with Anna.
name: harvest
app: shop
audience: {everyone: true}
content:
  title: 20 % off
  body: Only this week   # legal has seen it
  languages:
    de: {title: 20 % Rabatt, body: Nur diese Woche}
    fr: {title: 20 % de remise, body: Cette semaine}
    es: {title: 20 % de descuento, body: Esta semana}
    it: {title: 20 % di sconto, body: Questa settimana}
"""
LANGUAGES = ["en"] * 5 + ["de"] * 3 + ["fr"] * 2 + ["es", "it"]


class Shop(House):
    """Devices of several languages and zones."""

    def export(self):
        rows = [
            f"{token(n)},{'vip' if n % 2 else 'new'}{';unsubscribed' if n % 10 == 1 else ''},{LANGUAGES[n % len(LANGUAGES)]},"
            f"{['Europe/Berlin', 'America/New_York', ''][n % 3]}\n"
            for n in range(1, 601)
        ]
        return "token,tags,language,timezone\n" + "".join(rows)

    def preview(self, file):
        """What would be sent."""
        found = subprocess.run(
            [str(self.programs / "volley"), "preview", file, "--show", "500", "--json", "--quiet"],
            cwd=self.folder, text=True, capture_output=True, check=True)
        preview = json.loads(found.stdout)
        return {key: preview[key] for key in ("audience", "skipped", "languages", "variants", "texts", "messages", "in_words")}

    def end_sessions(self):
        """As if everyone had been away for half an hour."""
        with sqlite3.connect(self.folder / "runs" / "console" / "accounts.sqlite") as accounts:
            accounts.execute("DELETE FROM session")


class ComposerJourney(Journey):
    def person(self, name, **options):
        """Someone with the session that they signed in with."""
        return Person(self.browser, self.house, name, storage_state=self.sessions[name], locale="en-US", **options)

    def sign_in(self, names):
        self.sessions = {}
        for name in names:
            person = Person(self.browser, self.house, name)
            person.enter()
            self.sessions[name] = person.context.storage_state()
            person.context.close()

    def done(self, *people):
        for person in people:
            self.failures += person.troubles
            person.context.close()

    def text(self, file):
        return (self.house.folder / file).read_text()

    # MARK: - From nothing

    def make(self, person, hands, name, look=lambda name: None):
        """Makes the campaign of the brief."""
        page = person.page
        label = lambda words: page.get_by_label(words, exact=True)
        hands.click(page.get_by_role("link", name="New campaign").first)
        look("new")
        hands.fill(label("Name"), name)
        hands.click(page.get_by_role("button", name="Go on"))
        tags = page.get_by_role("group", name="At least one of these tags")
        self.wait_for_tags(person, tags.get_by_label("vip 300 devices"))
        hands.check(page.get_by_label("Devices with tags"))
        hands.check(tags.get_by_label("vip 300 devices"))
        hands.check(page.get_by_role("group", name="Not to devices with these tags").get_by_label(re.compile("^unsubscribed")))
        hands.fill(label("Title"), "Winter sale")
        hands.fill(label("Text"), "Half price until Sunday.")
        hands.click(page.get_by_text("Add a language", exact=True))
        hands.select(label("Language"), "German")
        hands.fill(label("Title in this language"), "Winterschluss")
        hands.fill(label("Text in this language"), "Bis Sonntag zum halben Preis.")
        hands.click(page.get_by_text("Add another language", exact=True).first)
        hands.select(label("Language (2)"), "French")
        hands.fill(label("Title in this language (2)"), "Soldes")
        hands.fill(label("Text in this language (2)"), "Tout à moitié prix.")
        hands.click(page.get_by_text("Variants: different texts"))
        for number, (variant, body) in enumerate([("long", ""), ("short", "Half price!")]):
            hands.fill(label("Name of the new variant").nth(number), variant)
            hands.fill(label("Its share in percent").nth(number), "45")
            if body:
                hands.fill(label("Its text; blank for the campaign’s own").nth(number), body)
        hands.fill(label("Share of devices that get nothing, for comparison"), "10")
        hands.check(label("At a time"))
        hands.fill(label("Date"), DAY)
        hands.fill(label("Time"), "09:00")
        hands.check(page.get_by_label("Each person’s clock"))
        hands.fill(label("Time zone of people whose own is not known"), "Europe/Berlin")
        look("filled-in")
        hands.click(page.get_by_role("button", name="Save", exact=True))
        expect(page).to_have_url(re.compile("saved=1"))
        look("made")

    def wait_for_tags(self, person, box):
        """Until the exports were read; without scripts the page has a link for that."""
        for _ in range(100):
            if box.count():
                return
            refresh = person.page.get_by_role("link", name="Refresh")
            if refresh.count() and refresh.first.is_visible():
                refresh.first.click()
            time.sleep(0.3)
        raise AssertionError(f"{person.name} waits for the tags in vain")

    def compare(self, name, how):
        """With the file that was written apart from it."""
        folder = self.house.folder / f"brief-{name}"
        folder.mkdir()
        (folder / f"{name}.yaml").write_text(BRIEF.replace("winter-sale", name))
        made, meant = yaml.safe_load(self.text(f"{name}.yaml")), yaml.safe_load((folder / f"{name}.yaml").read_text())
        self.check(made == meant, f"{how}: the file says the same as the one from the brief:\n{made}\n{meant}")
        first, second = (self.house.preview(file) for file in (f"{name}.yaml", f"brief-{name}/{name}.yaml"))
        other = {key: (first[key], second[key]) for key in first if first[key] != second[key]}
        self.check(not other, f"{how}: the same devices get the same: {other}")

    def from_nothing(self):
        edith = self.person("edith", viewport={"width": 1280, "height": 900})
        edith.go("/")
        hands = Mouse(edith.page)
        self.make(edith, hands, "winter-sale", lambda name: self.look(edith, f"composer-{name}"))
        print(f"the campaign of the brief takes {hands.actions} actions", flush=True)
        self.check(hands.actions <= MOST_ACTIONS, f"the campaign takes {hands.actions} actions, and should take {MOST_ACTIONS}")
        self.compare("winter-sale", "with a mouse")
        self.done(edith)

    def by_keyboard(self):
        edith = self.person("edith", viewport={"width": 1280, "height": 900})
        edith.go("/")
        self.make(edith, Keyboard(edith.page), "winter-keys")
        self.compare("winter-keys", "by keyboard")
        self.done(edith)

    def without_scripts(self):
        edith = self.person("edith", java_script_enabled=False)
        edith.go("/")
        self.make(edith, Mouse(edith.page), "winter-plain")
        self.compare("winter-plain", "without scripts")
        self.done(edith)

    # MARK: - On a phone

    def approval(self):
        """Of a plan, and of a time that comes."""
        self.house.campaign("by-hand", "https://shop.example.com", ["vip"])
        edith = self.person("edith")
        edith.go("/campaign?file=by-hand.yaml")
        edith.page.get_by_role("button", name="Plan and ask for approval").click()
        expect(edith.page.get_by_text("This plan waits for the approval")).to_be_visible(timeout=30_000)
        self.done(edith)
        ben = self.person("ben", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        page = ben.page
        approve = page.get_by_role("button", name="Approve", exact=True).first
        on_screen = lambda: approve.bounding_box()["y"] + approve.bounding_box()["height"] <= 844
        ben.go("/")
        self.look(ben, "phone-today")
        plan, ahead = Finger(page), Finger(page)
        plan.click(page.get_by_role("link", name="by-hand").first)
        self.check(on_screen(), "Approve is on the first screen of a phone")
        self.look(ben, "phone-plan")
        plan.click(approve)
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible(timeout=60_000)
        self.look(ben, "phone-approved")
        ben.go("/")
        ahead.click(page.get_by_role("link", name=re.compile("winter-sale.*approve ahead")).first)
        expect(page.get_by_text("Preview · nothing was sent")).to_be_visible(timeout=30_000)
        most = page.get_by_label("Devices at most")
        ahead.click(most)
        most.fill("1000")
        self.look(ben, "phone-ahead")
        ahead.click(approve)
        expect(page.get_by_text("for at most 1,000 devices")).to_be_visible(timeout=30_000)
        for what, hand in [("plan", plan), ("time", ahead)]:
            print(f"the approval of a {what} takes {hand.actions} taps", flush=True)
            self.check(hand.actions <= MOST_TAPS, f"the approval of a {what} takes {hand.actions} taps")
        self.done(ben)

    # MARK: - Five languages

    def new_offer(self):
        """The offer changes. The author decides on each text that stays."""
        (self.house.folder / "harvest.yaml").write_text(HARVEST)
        edith = self.person("edith", viewport={"width": 1280, "height": 900})
        page = edith.page
        edith.go("/campaign/form?file=harvest.yaml")
        page.get_by_label("Title", exact=True).fill("30 % off")
        page.get_by_label("Title in German (de)", exact=True).evaluate("e => e.closest('details').open = true")
        page.get_by_label("Title in German (de)", exact=True).fill("30 % Rabatt")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", name="What happens to the other texts?")).to_be_visible()
        self.look(edith, "other-texts")
        self.check(self.text("harvest.yaml") == HARVEST, "nothing is saved before the author has chosen")
        page.get_by_role("button", name="Save", exact=True).click()
        # Also where a browser lets a form pass that is not filled in.
        page.evaluate("for (const field of document.querySelectorAll('[required]')) field.required = false")
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_load_state()
        self.check(self.text("harvest.yaml") == HARVEST, "nor when a form without a choice is sent")
        if self.text("harvest.yaml") == HARVEST:
            group = lambda language: page.get_by_role("group", name=re.compile(f"title of {language}"))
            group("French").get_by_label(re.compile("^Remove it")).check()
            group("Spanish").get_by_label(re.compile("^Keep it")).check()
            group("Italian").get_by_label(re.compile("^Mark it")).check()
            page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"))
        saved = self.text("harvest.yaml")
        self.check("# legal has seen it" in saved and saved.startswith("# Agreed"), f"comments stay: {saved}")
        titles = {}
        for message in self.house.preview("harvest.yaml")["messages"]:
            titles[message["language"] or "default"] = (json.dumps(message, ensure_ascii=False), message["recipients"])
        old = {language for language, (text, _) in titles.items() if "20 %" in text}
        self.check(old == {"es", "it"}, f"only devices whose text the author kept or marked get the old offer: {titles}")
        self.check(sum(count for _, count in titles.values()) == 600, f"every device gets one: {titles}")
        edith.go("/campaign/form?file=harvest.yaml")
        expect(page.get_by_text("to translate")).to_have_count(1)
        self.look(edith, "marked")
        self.done(edith)

    # MARK: - Nothing typed is lost

    def slow(self):
        """A slow network, and then none."""
        edith = self.person("edith")
        page, file = edith.page, "harvest.yaml"
        network = edith.context.new_cdp_session(page)
        network.send("Network.enable")
        limit = lambda offline: network.send(
            "Network.emulateNetworkConditions",
            {"offline": offline, "latency": 1500, "downloadThroughput": 20_000, "uploadThroughput": 10_000})
        edith.go(f"/campaign/form?file={file}")
        limit(False)
        purpose = page.get_by_label("What it is for", exact=True)
        purpose.fill("Written on a train")
        page.wait_for_timeout(4_500)  # The draft is on its way.
        purpose.fill("Written on a slow train")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"), timeout=30_000)
        self.check("Written on a slow train" in self.text(file), f"what was typed last is saved: {self.text(file)}")
        edith.go("/")
        self.check(not page.get_by_role("heading", name="Drafts").count(), "no draft of it stays behind")
        edith.go(f"/campaign/form?file={file}")
        limit(True)
        purpose.fill("Written in a tunnel")
        expect(page.get_by_text("Not kept as a draft yet")).to_be_visible(timeout=30_000)
        self.look(edith, "offline")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Not sent: there is no connection")).to_be_visible()
        expect(purpose).to_have_value("Written in a tunnel")
        limit(False)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"), timeout=30_000)
        self.check("Written in a tunnel" in self.text(file), "what was typed without a network is saved when it is back")
        edith.troubles = [trouble for trouble in edith.troubles if "ERR_INTERNET_DISCONNECTED" not in trouble]
        self.done(edith)

    def ended_session(self):
        edith = self.person("edith")
        page, saved = edith.page, self.text("harvest.yaml")
        edith.go("/campaign/form?file=harvest.yaml")
        page.get_by_label("Title", exact=True).fill("40 % off")
        self.house.end_sessions()
        edith.answers += "|401"
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        self.look(edith, "session-ended")
        self.check(self.text("harvest.yaml") == saved, "without a session nothing is saved")
        page.get_by_label("Name").fill("edith")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Your session had ended")).to_be_visible()
        expect(page.get_by_label("Title", exact=True)).to_have_value("40 % off")
        self.look(edith, "session-draft")
        self.done(edith)

    def two_people(self):
        (self.house.folder / "shared.yaml").write_text(HARVEST.split("  languages:")[0].replace("harvest", "shared"))
        edith, dora = self.person("edith"), self.person("dora")
        for person in (edith, dora):
            person.go("/campaign/form?file=shared.yaml")
        edith.page.get_by_label("Title", exact=True).fill("From Edith")
        dora.page.get_by_label("Text", exact=True).fill("From Dora")
        edith.page.get_by_role("button", name="Save", exact=True).click()
        expect(edith.page).to_have_url(re.compile("saved=1"))
        dora.page.get_by_role("button", name="Save", exact=True).click()
        expect(dora.page.get_by_text("saved this campaign after you opened this form")).to_be_visible()
        self.look(dora, "two-people")
        self.check("From Dora" not in self.text("shared.yaml"), "the second save overwrites nothing")
        expect(dora.page.get_by_label("Text", exact=True)).to_have_value("From Dora")
        dora.page.get_by_role("button", name="Save", exact=True).click()
        expect(dora.page).to_have_url(re.compile("saved=1"))
        saved = self.text("shared.yaml")
        self.check("From Edith" in saved and "From Dora" in saved, f"both are saved: {saved}")
        self.done(edith, dora)

    # MARK: - Large text

    def large(self):
        """A default font of twice the size, and a narrow window, on every page."""
        run = next(path.stem for path in (self.house.folder / "runs").glob("2*-by-hand-*.sqlite"))
        file = "file=winter-sale.yaml"
        paths = [
            "/", "/campaigns", f"/campaign?{file}", f"/campaign/form?{file}", f"/campaign/edit?{file}", f"/campaign/history?{file}",
            f"/campaign/preview?{file}", "/campaigns/new", f"/campaigns/new?{file}", "/calendar", "/runs", f"/runs/{run}", "/draft", "/account",
            "/users", "/users/1", "/invite", "/activity", "/suppression", "/suppression/app?app=shop", "/system", "/nowhere",
        ]
        for width, size in [(1280, 32), (390, 32), (320, 16)]:
            anna = self.person("anna", viewport={"width": width, "height": 800})
            anna.context.new_cdp_session(anna.page).send("Page.setFontSizes", {"fontSizes": {"standard": size, "fixed": size * 13 // 16}})
            for path in paths:
                anna.go(path)
                wide = anna.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                self.check(wide <= 0, f"{path} is {wide} px wider than a window of {width} px with text of {size} px")
                if self.pictures and "form" in path:
                    anna.page.screenshot(path=str(self.pictures / f"large-{width}-{size}.png"), full_page=True)
            self.done(anna)


def walk(journey):
    names = {"edith": "editor", "dora": "editor", "ben": "approver", "anna": "administrator"}
    journey.house.open(names)
    journey.sign_in(names)
    journey.from_nothing()
    journey.approval()
    journey.by_keyboard()
    journey.without_scripts()
    journey.new_offer()
    journey.slow()
    journey.two_people()
    journey.large()
    journey.ended_session()


travel(ComposerJourney, Shop(sys.argv[1]), walk)
