"""Signing in by providers of identities that others wrote, in a real Chromium: people, their roles, a fresh sign-in, what may go wrong.

Usage: openid.py BIN_FOLDER [SCREENSHOT_FOLDER]. BIN_FOLDER holds volley and volley-console. Ends with 1 if anything is not as it must be.
"""

import pathlib
import re
import signal
import sqlite3
import subprocess
import sys

from playwright.sync_api import expect

from house import House, Journey, Person, free_port, travel, wait_for

PROVIDERS = pathlib.Path(__file__).parent / "providers"
PASSWORD = "seven spoons under a lantern"
SECRET = "s3cret&+%of-a-journey"
WAY_BACK = "/sign-in/oidc/return"


class Provider:
    """A program of `providers` on loopback. Each start gives it a new key; what it knows of people stays."""

    def __init__(self, house, program, path=""):
        self.house, self.program = house, program
        self.port = free_port()
        self.issuer = f"https://localhost:{self.port}{path}"
        self.process = None

    def start(self):
        with open(self.house.folder / f"{self.program}.log", "a") as log:
            command = [sys.executable, PROVIDERS / self.program, self.house.folder, str(self.port), self.house.origin + WAY_BACK]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.house.processes.append(self.process)
        wait_for(self.port)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)

    @property
    def settings(self):
        return (
            f'console:\n  oidc:\n    issuer: "{self.issuer}"\n    client_id: volley\n    client_secret: {{file: oidc.txt}}\n'
            "    name: The office\n    ca: ca.pem\n    roles:\n      claim: groups\n      map:\n"
            "        marketing-editors: editor:shop\n        marketing-leads: [approver:shop, viewer]\n        it: administrator\n"
        )


class OfficeHouse(House):
    """A house whose people are known to a provider."""

    def __init__(self, programs):
        super().__init__(programs)
        subprocess.run([sys.executable, PROVIDERS / "certificates.py", self.folder], check=True)
        secret = self.folder / "oidc.txt"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o600)

    def restart(self, former=None, provider=None):
        """With another provider instead of the former one, if there is one."""
        self.console.send_signal(signal.SIGTERM)
        self.console.wait(30)
        if provider:
            project = self.folder / "volley.yaml"
            project.write_text(project.read_text().replace(former.settings, provider.settings))
        self.serve()


class Visitor(Person):
    """A person with a password at the provider. The browser takes any certificate there; Volley does not."""

    answers = "400|401|403|502"

    def __init__(self, browser, house, name):
        super().__init__(browser, house, name, viewport={"width": 1280, "height": 900}, ignore_https_errors=True)

    def trouble(self, text):
        # The provider's own pages are not ours to judge.
        if self.page.url.startswith(self.house.origin):
            super().trouble(text)

    def begin(self, path="/"):
        self.go(path)
        self.page.get_by_role("link", name="Sign in with The office").click()

    def log_in(self):
        """On the provider's page."""
        page = self.page
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        page.get_by_label("Username").fill(self.name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()

    def consent(self, answer="Authorize"):
        expect(self.page.get_by_role("heading", name="Authorize Volley?")).to_be_visible()
        self.page.get_by_role("button", name=answer).click()

    def sees(self, heading):
        expect(self.page.get_by_role("heading", name=heading)).to_be_visible()


class OpenIDJourney(Journey):
    def visitor(self, name):
        return Visitor(self.browser, self.house, name)

    # Where people wanted to go, with the roles that follow from the claim; and out again.
    def entering(self):
        edith = self.visitor("edith")
        edith.go("/runs?app=shop")
        self.look(edith, "oidc-sign-in")
        edith.begin("/runs?app=shop")
        edith.log_in()
        edith.consent("Cancel")
        edith.sees("You are not signed in")
        self.look(edith, "oidc-refused")
        edith.begin("/runs?app=shop")
        edith.consent()
        expect(edith.page).to_have_url(re.compile(r"/runs\?app=shop$"))
        expect(edith.page.get_by_text("Edith Doe").first).to_be_visible()
        edith.go("/campaign?file=spring-sale.yaml")
        expect(edith.page.get_by_role("link", name="Edit", exact=True)).to_be_visible()
        edith.go("/users")
        edith.sees("You may not see this")
        edith.go("/account")
        expect(edith.page.get_by_text("Password, second factor and roles are kept there.")).to_be_visible()
        self.look(edith, "oidc-account")
        edith.page.get_by_role("button", name="Sign out").click()
        edith.go("/runs")
        expect(edith.page.get_by_role("link", name="Sign in with The office")).to_be_visible()
        self.failures += edith.troubles

    # The provider has the person, and volley.yaml has none of the person's groups.
    def without_role(self):
        otto = self.visitor("otto")
        otto.begin()
        otto.log_in()
        otto.consent()
        otto.sees("You have no role here")
        self.look(otto, "oidc-no-role")
        otto.go("/campaigns")
        expect(otto.page.get_by_role("link", name="Sign in with The office")).to_be_visible()
        self.failures += otto.troubles

    # One writes, another approves: they are two people to the console by what the provider says.
    def approval(self):
        edith, ben = self.visitor("edith"), self.visitor("ben")
        for person in (edith, ben):
            person.begin()
            person.log_in()
            person.consent()
            person.sees("Today")
        edith.go("/campaign?file=spring-sale.yaml")
        edith.page.get_by_role("button", name="Plan and ask for approval").click()
        expect(edith.page.get_by_text("This plan waits for the approval")).to_be_visible(timeout=30_000)
        self.check(edith.page.get_by_role("button", name="Approve").count() == 0, "an editor cannot approve")
        ben.page.goto(edith.page.url)
        ben.page.get_by_role("button", name="Approve").click()
        expect(ben.page.get_by_role("button", name="Send")).to_be_visible(timeout=30_000)
        self.failures += edith.troubles + ben.troubles

    # A person that signed in at the provider an hour ago signs in there again, and then finds what was filled in.
    def fresh_sign_in(self):
        dana = self.visitor("dana")
        dana.begin()
        dana.log_in()
        dana.consent("Cancel")
        with sqlite3.connect(self.house.folder / "provider.sqlite", timeout=20) as provider:
            provider.execute("UPDATE auth_user SET last_login = datetime('now', '-1 hour') WHERE username = 'dana'")
        dana.begin()
        dana.consent()
        dana.sees("Today")
        dana.go("/users")
        page = dana.page
        self.look(dana, "oidc-people")
        page.get_by_role("link", name="Invite a person").click()
        page.get_by_label("Name to sign in with").fill("eva")
        page.get_by_label("Name that others see").fill("Eva Roth")
        page.get_by_label("Viewer").first.check()
        page.get_by_role("button", name="Make the link").click()
        dana.sees("Sign in again")
        self.look(dana, "oidc-again")
        page.get_by_role("link", name="Sign in again with The office").click()
        dana.log_in()
        dana.consent()
        dana.sees("Thank you")
        self.look(dana, "oidc-thank-you")
        page.get_by_role("button", name="Go on").click()
        dana.sees("A link for Eva Roth")
        self.look(dana, "oidc-invited")
        self.failures += dana.troubles

    # It goes away in the middle of a sign-in, stays away, and comes back with another key.
    def provider_away(self, provider):
        ben = self.visitor("ben")
        ben.begin()
        ben.log_in()

        def answer_and_stop(route):
            answer = route.fetch(max_redirects=0)
            provider.stop()
            route.fulfill(response=answer)

        expect(ben.page.get_by_role("heading", name="Authorize Volley?")).to_be_visible()
        ben.page.route(f"{provider.issuer}/authorize/**", answer_and_stop)
        ben.consent()
        ben.sees("Signing in is not possible now")
        self.look(ben, "oidc-away")
        self.house.restart()
        ben.page.unroute_all()
        ben.begin()
        ben.sees("Signing in is not possible now")
        provider.start()
        ben.page.wait_for_timeout(5_000)
        ben.begin()
        ben.consent()
        ben.sees("Today")
        self.failures += ben.troubles


    # Signed with ES256; a claim that is a text for one person and a list for the other, from userinfo; a Basic header is not decoded.
    def reference_implementation(self):
        for name, right in [("edith", "Edit"), ("ben", "Preview")]:
            person = self.visitor(name)
            person.begin("/campaign?file=spring-sale.yaml")
            person.log_in()
            expect(person.page.get_by_role("link", name=right, exact=True)).to_be_visible()
            person.go("/account/proof?to=/runs")
            person.page.get_by_role("link", name="Sign in again with The office").click()
            person.log_in()
            person.sees("Thank you")
            self.failures += person.troubles

    # It leaves the state out of refusals.
    def without_state(self):
        edith = self.visitor("edith")
        edith.begin()
        edith.page.get_by_role("button", name="Deny").click()
        edith.sees("You are not signed in")
        edith.begin()
        edith.page.get_by_role("button", name="edith").click()
        edith.sees("Today")
        edith.go("/account/proof?to=/runs")
        edith.page.get_by_role("link", name="Sign in again with The office").click()
        edith.page.get_by_role("button", name="edith").first.click()
        edith.sees("Thank you")
        self.failures += edith.troubles


def walk(journey):
    provider = Provider(journey.house, "django_toolkit.py", "/o")
    provider.start()
    journey.house.open({}, provider.settings)
    journey.entering()
    journey.without_role()
    journey.approval()
    journey.fresh_sign_in()
    journey.provider_away(provider)
    reference = Provider(journey.house, "idpy.py")
    reference.start()
    journey.house.restart(provider, reference)
    journey.reference_implementation()
    mock = Provider(journey.house, "authlib_mock.py")
    mock.start()
    journey.house.restart(reference, mock)
    journey.without_state()


travel(OpenIDJourney, OfficeHouse(sys.argv[1]), walk)
