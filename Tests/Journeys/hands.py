"""How people use a page: with a mouse, where each action is counted, or with the keyboard alone."""

import re


class Mouse:
    """Clicks, fills in and chooses; each is one action."""

    def __init__(self, page):
        self.page, self.actions = page, 0

    def click(self, control):
        self.actions += 1
        control.click()

    def check(self, control):
        self.actions += 1
        control.check()

    def fill(self, control, text):
        self.actions += 1
        control.fill(text)

    def select(self, control, label):
        self.actions += 1
        control.select_option(label=control.locator("option", has_text=label).first.inner_text())


class Finger(Mouse):
    """Taps."""

    def click(self, control):
        self.actions += 1
        control.tap()


class Keyboard(Mouse):
    """The same with Tab, Space, Enter, arrows and letters."""

    # More controls than a page has.
    most = 600

    def reach(self, control):
        """Presses Tab until the control has the focus."""
        element = control.element_handle()
        for _ in range(self.most):
            if element.evaluate("e => e === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {control}")

    def click(self, control):
        self.reach(control)
        self.page.keyboard.press("Enter")

    def check(self, control):
        if control.get_attribute("type") != "radio":
            self.reach(control)
            return control.is_checked() or self.page.keyboard.press("Space")
        # Tab stops at the one of the group that is checked, or at the first.
        name = control.get_attribute("name")
        for _ in range(self.most):
            if self.page.evaluate("name => document.activeElement.name === name", name):
                break
            self.page.keyboard.press("Tab")
        self.page.keyboard.press("Space")
        while not control.is_checked():
            self.page.keyboard.press("ArrowDown")

    def fill(self, control, text):
        self.reach(control)
        kind = control.get_attribute("type")
        if kind == "date":
            text = re.sub(r"(\d+)-(\d+)-(\d+)", r"\2\3\1", text)  # as browsers in the United States show it
        elif kind == "time":
            text = text.replace(":", "") + "AM"
        else:
            self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        # The browser's list of suggestions would take the next key.
        if control.get_attribute("list"):
            self.page.keyboard.press("Escape")

    def select(self, control, label):
        self.reach(control)
        self.page.keyboard.type(label)
