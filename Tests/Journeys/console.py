"""A campaign in the console, from an empty file to its report, in a real Chromium: by two people, each in a browser of their own.

Usage: console.py BIN_FOLDER [SCREENSHOT_FOLDER]. BIN_FOLDER holds volley and volley-console. Ends with 1 if anything is not as it must be.
"""

import re
import sys
import time

from playwright.sync_api import expect

from house import House, Journey, Person, launch, travel


# What does not fit: text that is cut off, and whatever but source is scrolled sideways. Blanks at the end of a line may stand out.
MISFITS = """() => {
  const width = document.documentElement.clientWidth, found = [];
  const name = e => `${e.tagName.toLowerCase()}.${e.className} ${e.textContent.trim().slice(0, 40)}`;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const e of document.querySelectorAll("body *")) {
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (box.width < 2 || style.visibility === "hidden" || e.matches("textarea.code, input, select, option, .source code")) continue;
    const isCut = ["hidden", "clip"].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && style.position !== "absolute";
    const isScrolled = ["auto", "scroll"].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1;
    if (isCut || isScrolled || box.right > width + 1 && style.position !== "absolute") found.push(name(e));
    if (["fixed", "sticky"].includes(style.position) && box.height > innerHeight / 3) found.push(`covers the page: ${name(e)}`);
  }
  return found;
}"""


class ConsoleJourney(Journey):
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
        self.check(not page.get_by_role("link", name="Edit the source").is_visible(), "the source is folded")
        page.locator("summary", has_text="Source").click()
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
        expect(page.get_by_text("No mistakes.")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        self.check((self.house.folder / "spring-sale.yaml").read_text() == text, "a check and a save change nothing by themselves")
        edith.go("/campaign/form?file=spring-sale.yaml")
        tags = page.get_by_role("group", name="At least one of these tags")
        expect(tags.get_by_label("vip 30 devices")).to_be_visible(timeout=30_000)
        self.check(tags.get_by_label("vip 30 devices").is_checked(), "the campaign's tag is checked, and its devices are counted")
        self.check(not tags.get_by_label("new 30 devices").is_checked(), "the exports' other tag is offered")
        page.get_by_label("Title", exact=True).fill("Spring: it's here")
        self.look(edith, "form")
        page.get_by_role("button", name="Save", exact=True).click()
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
        page.get_by_label("Name", exact=True).fill("Autumn Sale")
        page.get_by_label("A sale").check()
        self.look(edith, "new")
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_text("write autumn-sale, for example.")).to_be_visible()
        self.check(page.get_by_label("A sale").is_checked(), "what was chosen stays when the form is refused")
        self.look(edith, "new-mistake")
        page.get_by_label("Name", exact=True).fill("autumn")
        page.get_by_role("button", name="Go on").click()
        page.get_by_label("Title", exact=True).fill("Autumn")
        self.schedule(edith)
        # Another person approves it, and sends it.
        ben.go("/")
        ben.page.get_by_role("link", name="spring-sale").first.click()
        self.look(ben, "approve")
        self.check(ben.page.locator("#about + dl a[href*='spring-sale.yaml']").count() == 1, "a run leads to its campaign")
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
        expect(ben.page.get_by_text("Accepted by APNs for all 30 devices.")).to_be_visible()
        for person in (edith, ben):
            self.failures += person.troubles
        return run

    # A campaign of every week, without a word of cron.
    def schedule(self, edith):
        page, file = edith.page, self.house.folder / "autumn.yaml"
        expect(page.get_by_label("vip 30 devices").first).to_be_attached(timeout=30_000)
        page.get_by_label("Devices with tags").check()
        tags = page.get_by_role("group", name="At least one of these tags")
        tags.get_by_label("vip 30 devices").check()
        page.get_by_label("At a time").check()
        page.get_by_label("Date", exact=True).fill("2099-12-01")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#composer").get_by_text("The date has no time")).to_be_visible()
        self.check(tags.get_by_label("vip 30 devices").is_checked(), "what was checked stays when the form is refused")
        self.look(edith, "form-mistake")
        page.get_by_label("Date", exact=True).fill("")
        self.check(not page.get_by_label("Day of the month", exact=True).is_visible(), "fields of other choices are not seen")
        page.get_by_label("How often").select_option("weekly")
        page.get_by_label("At", exact=True).fill("09:00")
        for day in ("Monday", "Thursday"):
            page.get_by_label(day).check()
        page.get_by_label("Time zone", exact=True).fill("Europe/Berlin")
        self.look(edith, "form-weekly")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"))
        saved = file.read_text()
        self.check("tags: [vip]" in saved and '"0 9 * * mon,thu"' in saved and "Europe/Berlin" in saved, f"tags and times: {saved}")
        edith.go("/campaign/form?file=autumn.yaml")
        expect(page.get_by_text("Clocks there show")).to_be_visible()
        self.check(page.locator(".next li").count() == 5, "the next five times are shown")
        self.check(page.get_by_label("Thursday").is_checked() and not page.get_by_label("Friday").is_checked(), "the rule is read back")
        self.look(edith, "form-saved")
        self.texts(edith)
        self.drafts(edith)

    # A language is added; a new text asks what happens to it; the mark stays until it is confirmed.
    def texts(self, edith):
        page, file = edith.page, self.house.folder / "autumn.yaml"
        page.get_by_text("Add a language", exact=True).click()
        page.get_by_label("Language", exact=True).select_option("de")
        page.get_by_label("Title in this language", exact=True).fill("Herbst")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"))
        self.check("title: Herbst" in file.read_text(), f"a language is added: {file.read_text()}")
        edith.go("/campaign/form?file=autumn.yaml")
        page.get_by_label("Title", exact=True).fill("Leaves are falling")
        expect(page.locator(".phone", has_text="Leaves are falling")).not_to_have_count(0, timeout=30_000)
        page.get_by_role("button", name="Next device").press("Enter")
        expect(page.locator(".phone")).to_have_count(1)
        expect(page.locator(".phone figcaption")).to_contain_text("device 2 of")
        expect(page.get_by_role("button", name="Next device")).to_be_focused()
        page.get_by_role("button", name="All texts").click()
        expect(page.get_by_role("button", name="All texts")).to_have_count(0)
        # An emoji goes where the cursor was, by the keyboard alone.
        page.get_by_label("Title", exact=True).evaluate("field => field.setSelectionRange(6, 6)")
        page.locator("summary", has_text="Emoji").press("Enter")
        page.get_by_role("button", name="fallen leaf").press("Enter")
        expect(page.get_by_label("Title", exact=True)).to_have_value("Leaves🍂 are falling")
        expect(page.get_by_label("Title", exact=True)).to_be_focused()
        page.get_by_label("Title", exact=True).fill("Leaves are falling")
        # A column that some devices lack asks what to write for them.
        page.get_by_label("Title", exact=True).press("End")
        expect(page.locator("#insert-column option[value=first_name]")).to_have_text("first_name, blank for 33.3 %", timeout=30_000)
        page.get_by_label("Insert a column of the export").select_option("first_name")
        page.get_by_role("button", name="Insert", exact=True).click()
        expect(page.get_by_text("first_name is blank for 33.3 % of the devices")).to_be_visible()
        expect(page.get_by_label("If it is blank, write")).to_be_focused()
        page.get_by_label("If it is blank, write").fill("there")
        page.get_by_role("button", name="Insert", exact=True).click()
        expect(page.get_by_label("Title", exact=True)).to_have_value("Leaves are falling{{ first_name | default: 'there' }}")
        page.get_by_label("Title", exact=True).fill("Leaves are falling")
        self.check("Leaves" not in file.read_text(), "the phone follows what is typed, and nothing is saved")
        self.look(edith, "composer")
        # No device of this export reads German, so the phones get one more.
        page.evaluate("""() => {
          const phones = document.querySelector(".side .phones"), german = phones.firstElementChild.cloneNode(true);
          german.dataset.language = "de";
          phones.append(german);
          const field = document.querySelector("[name='content.languages.de.title']");
          for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
          field.focus();
        }""")
        page.wait_for_function("document.querySelector('.side .phones').scrollLeft > 0")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", name="What happens to the other texts?")).to_be_visible()
        self.look(edith, "other-texts")
        page.get_by_label(re.compile("^Mark it")).check()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"))
        self.check("# volley: translate content.languages.de (title)" in file.read_text(), f"the mark is in the file: {file.read_text()}")
        edith.go("/campaign/form?file=autumn.yaml")
        page.get_by_label("It is right now").check()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile("saved=1"))
        self.check("# volley:" not in file.read_text() and "Leaves" in file.read_text(), f"the mark is gone: {file.read_text()}")

    # What is typed is kept by itself, and found again.
    def drafts(self, edith):
        page, file = edith.page, self.house.folder / "autumn.yaml"
        saved = file.read_text()
        edith.go("/campaign/form?file=autumn.yaml")
        page.get_by_label("Title", exact=True).fill("Autumn, later")
        expect(page.get_by_text("Kept as a draft at")).to_be_visible(timeout=30_000)
        edith.go("/")
        self.look(edith, "drafts")
        page.get_by_role("region", name="Drafts").get_by_role("link", name="autumn", exact=True).first.click()
        expect(page.get_by_label("Title", exact=True)).to_have_value("Autumn, later")
        self.check(file.read_text() == saved, "a draft changes no file")
        page.get_by_role("link", name="Discard it").click()
        page.get_by_role("button", name="Discard the draft").click()
        expect(page.get_by_role("heading", name="Today")).to_be_visible()
        self.check(not page.get_by_role("heading", name="Drafts").count(), "a discarded draft is gone")

    # A time that is approved before it comes, and a campaign that is changed afterwards.
    def ahead(self):
        carl = Person(self.browser, self.house, "carl", viewport={"width": 1280, "height": 900})
        carl.enter()
        page = carl.page
        daily = self.house.folder / "daily.yaml"
        daily.write_text(
            "name: daily\napp: shop\naudience:\n  tags: [vip]\ncontent:\n  title: News\n  body: Of today\n"
            'schedule: {timezone: Europe/Berlin, repeat: "0 9 * * *"}\n'
        )
        carl.go("/calendar")
        own, spoken = page.locator("td[data-name='Your time'] time").first, r"\w+day, \d+ \w+ \d{4}, \d\d:\d\d"
        self.check(re.fullmatch(spoken, own.text_content()), f"the viewer's time has the page's form: {own.text_content()}")
        self.check(re.fullmatch(spoken + " UTC", own.get_attribute("title")), f"the server's: {own.get_attribute('title')}")
        self.look(carl, "calendar")
        page.get_by_role("link", name=re.compile("approve ahead")).nth(1).click()
        expect(page.get_by_role("heading", name="Approve daily ahead")).to_be_visible()
        expect(page.get_by_text("Preview · nothing was sent")).to_be_visible(timeout=30_000)
        page.get_by_label("Devices at most").fill("1.5")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_text("Type the largest number of devices")).to_be_visible()
        self.look(carl, "ahead")
        page.get_by_label("Devices at most").fill("1,000")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_text("for at most 1,000 devices")).to_be_visible()
        expect(page.get_by_text("Done")).to_be_visible(timeout=30_000)
        carl.go("/calendar")
        expect(page.get_by_text("approved by carl for at most 1,000 devices")).to_be_visible()
        page.get_by_role("link", name=re.compile("the approval")).click()
        expect(page.get_by_role("button", name="Withdraw it")).to_be_visible()
        self.look(carl, "ahead-given")
        daily.write_text(daily.read_text().replace("News", "Old news"))
        carl.go("/")
        expect(page.get_by_text("approved it ahead, but")).to_be_visible()
        self.look(carl, "ahead-outdated")
        return carl

    # A run that is cancelled midway; the devices that it never sent to get it later, each once.
    def unsent(self, anna, carl):
        self.house.campaign("last-chance", "https://shop.example.com/", tags=["new"])
        anna.go("/campaign?file=last-chance.yaml")
        anna.page.get_by_role("button", name="Plan and ask for approval").click()
        expect(anna.page.get_by_role("heading", name="The plan")).to_be_visible(timeout=30_000)
        carl.go(anna.page.url.split("#")[0].replace(self.house.origin, ""))
        page = carl.page
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=30_000)
        page.get_by_label("To go on, type the number of devices").fill("30")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("button", name="Pause")).to_be_visible(timeout=30_000)
        reached = lambda: [token for token in self.house.accepted() if int(token, 16) % 2 == 0]
        self.until(lambda: len(reached()) > 2)
        page.locator("summary", has_text="Cancel").click()
        page.get_by_role("button", name="Yes, send nothing more of it").click()
        retry = page.get_by_role("button", name="Retry unsent")
        expect(retry).to_be_visible(timeout=30_000)
        first = reached()
        self.check(2 < len(first) < 30, f"it was cancelled midway: {len(first)}")
        number = page.get_by_label("To go on, type the number of devices")
        number.fill("30")
        retry.click()
        expect(page.get_by_text(f"That is not the number of devices, which is {30 - len(first)}")).to_be_visible()
        self.look(carl, "retry-unsent")
        number.fill(str(30 - len(first)))
        retry.click()
        self.until(lambda: len(reached()) == 30)
        page.get_by_role("link", name="The retry").click(timeout=30_000)
        expect(page.get_by_text("finished").first).to_be_visible(timeout=30_000)
        expect(page.locator("#about + dl").get_by_text("Retries", exact=True)).to_be_visible()
        self.look(carl, "retried")
        self.check(len(set(reached())) == 30, "each device got it once")
        self.failures += anna.troubles + carl.troubles

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
        expect(second.get_by_role("heading", name="The file was changed meanwhile")).to_be_visible()
        anna.page = second
        self.look(anna, "conflict")
        text = (self.house.folder / "spring-sale.yaml").read_text()
        self.check("first tab" in text and "second tab" not in text, "the second tab overwrote nothing")
        self.failures += anna.troubles
        return anna

    # Every page at every size, in light and dark.
    def sizes(self, anna, run):
        anna.go("/campaign?file=spring-sale.yaml")
        anna.page.get_by_role("button", name="Plan and ask for approval").click()
        expect(anna.page.get_by_role("heading", name="The plan")).to_be_visible(timeout=30_000)
        plan = anna.page.url.split("#")[0].replace(self.house.origin, "")
        paths = [
            "/", "/campaigns", "/campaign?file=spring-sale.yaml", "/campaign/form?file=autumn.yaml", "/campaign/edit?file=spring-sale.yaml",
            "/campaign/history?file=spring-sale.yaml", "/campaign/preview?file=spring-sale.yaml", "/campaigns/new", "/calendar", "/runs",
            plan, f"/runs/{run}", f"/runs/{run}/report", "/system", "/users/1", "/invite", "/account", "/help",
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
        self.large(anna, paths)

    # A browser whose text is twice as large, as its person chose: all of a page grows, and nothing is scrolled sideways.
    def large(self, anna, paths):
        browser, state = launch(self.browser.browser_type, "--blink-settings=defaultFontSize=32"), anna.context.storage_state()
        for width in (390, 320):
            visitor = Person(browser, self.house, "anna", viewport={"width": width, "height": 844}, storage_state=state)
            for path in paths:
                visitor.go(path)
                visitor.page.wait_for_load_state()
                wide = visitor.page.evaluate("document.documentElement.scrollWidth")
                self.check(wide <= width, f"{path} with large text is {wide} px wide in a window of {width}")
                size = visitor.page.evaluate("getComputedStyle(document.body).fontSize")
                self.check(size == "32px", f"{path} has a text of {size}, and not as large as the browser's")
            self.failures += visitor.troubles
        browser.close()

    # A window of 1280 by 1024 at 400 %, with names as long as they may be.
    def zoomed(self, anna, run):
        long = "spring-sale-for-everyone-who-bought-nothing-since-last-december-"
        assert len(long) == 64
        self.house.campaign(long, "https://shop.example.com/" + "a" * 200, tags=["vip", "t" * 80])
        link = self.house.invite("w" * 60 + "@example.com", "viewer")
        paths = [
            "/", "/campaigns", f"/campaign?file={long}.yaml", f"/campaign/form?file={long}.yaml", f"/campaign/edit?file={long}.yaml",
            f"/campaign/history?file={long}.yaml", f"/campaign/preview?file={long}.yaml", "/campaigns/new", "/calendar", "/runs", f"/runs/{run}",
            f"/runs/{run}/report", "/suppression", "/suppression/app?app=shop", "/users", "/users/1", "/invite", "/activity", "/account",
            "/account/proof?to=/runs", "/system", "/help", "/nowhere", link.replace(self.house.origin, ""),
        ]
        state = anna.context.storage_state()
        visitor = Person(
            self.browser, self.house, "anna", viewport={"width": 320, "height": 256}, device_scale_factor=4, storage_state=state)
        for path in paths:
            visitor.go(path)
            visitor.page.wait_for_load_state()
            if "/preview" in path:
                expect(visitor.page.get_by_text("Preview · nothing was sent")).to_be_visible(timeout=30_000)
            for misfit in visitor.page.evaluate(MISFITS):
                self.check(False, f"{path} at 400 %: {misfit}")
            if self.pictures:
                name = re.sub(r"[^a-z]+", "-", path.split("?")[0].replace(run, "run")).strip("-") or "today"
                visitor.page.screenshot(path=str(self.pictures / f"zoomed-{name}.png"), full_page=True)
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
        bare.go("/campaign/form?file=autumn.yaml")
        for _ in range(100):
            tags = bare.page.get_by_role("group", name="At least one of these tags")
            if tags.get_by_label("new 30 devices").count():
                break
            time.sleep(0.3)
            bare.page.get_by_role("link", name="Refresh").click()
        tags.get_by_label("new 30 devices").check()
        bare.page.get_by_label("Friday").check()
        bare.page.get_by_role("button", name="Save", exact=True).click()
        saved = (self.house.folder / "autumn.yaml").read_text()
        self.check("tags: [vip, new]" in saved and "mon,thu,fri" in saved, f"without scripts, tags and days are chosen: {saved}")
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


def walk(journey):
    journey.house.open({"edith": "editor", "ben": "approver", "carl": "approver", "anna": "administrator"})
    run = journey.campaign()
    anna = journey.conflict()
    journey.sizes(anna, run)
    journey.zoomed(anna, run)
    journey.plain(anna)
    journey.unsent(anna, journey.ahead())


travel(ConsoleJourney, House(sys.argv[1]), walk)
