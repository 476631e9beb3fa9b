import Base
import Cryptography
import Reports

/// The console's script: no page needs it.
enum ConsoleScript {
    static let text = """
        "use strict";

        // Moments are in UTC; next to each is the same moment on the viewer's clock.
        function localTimes(root) {
          // In the words of the page: Tuesday, 1 December 2026, 09:00. Next to a day: Tue, 09:00 CET.
          const hours = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
          const format = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric", ...hours });
          const clock = new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZoneName: "short", ...hours });
          function words(format, moment) {
            const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
            const date = parts.year ? ` ${parts.day} ${parts.month} ${parts.year},` : "";
            return `${parts.weekday},${date} ${parts.hour}:${parts.minute}` + (parts.timeZoneName ? ` ${parts.timeZoneName}` : "");
          }
          for (const time of root.querySelectorAll("time[datetime]")) {
            const moment = new Date(time.dateTime);
            if (isNaN(moment)) continue;
            time.title = time.textContent;
            time.textContent = words(time.dataset.clock === undefined ? format : clock, moment);
          }
        }

        // A run that is being sent is fetched every two seconds while its page is visible.
        function follow(section) {
          let failures = 0;
          async function look() {
            if (document.hidden) return again();
            try {
              const response = await fetch(section.dataset.live, { headers: { accept: "application/json" }, redirect: "error" });
              if (!response.ok) throw new Error(response.status);
              const run = await response.json();
              failures = 0;
              for (const [name, markup] of Object.entries(run.pieces)) {
                const place = document.querySelector(`[data-fill="${name}"]`);
                if (!place || place.dataset.last === markup) continue;
                place.dataset.last = markup;
                // The server made this markup, as it makes the page.
                place.innerHTML = markup;
                localTimes(place);
              }
              // An open form keeps what was typed in it.
              if (!run.is_live && section.dataset.keep !== undefined) { section.hidden = true; return; }
              // Buttons and orders have changed; text that is being typed is left alone.
              const isTyping = document.activeElement?.matches("input, textarea") && document.activeElement.value;
              if ((!run.is_live || run.mark !== section.dataset.mark) && !isTyping) return location.reload();
            } catch { failures += 1; }
            again();
          }
          function again() { setTimeout(look, Math.min(2000 * 2 ** failures, 60000)); }
          again();
        }

        // A result that is not ready is fetched again after a while.
        for (const form of document.querySelectorAll("form[data-again]")) setTimeout(() => form.submit(), 1500);

        localTimes(document);
        for (const link of document.querySelectorAll("[data-without-script]")) link.hidden = true;
        for (const live of document.querySelectorAll("[data-live]")) follow(live);

        """
}

/// Keeps what is typed into a campaign's form as a draft, some seconds after the last change, and
/// asks before unsaved text is left.
enum DraftScript {
    static let text = """
        function keepDraft(mark) {
          const form = mark.form, note = form.querySelector("[data-draft-note]");
          let timer, request, changes = 0, kept = 0, isLeaving = false, isReached = true, isSure = false;
          // One at a time: the next one needs the id in the answer.
          function later(milliseconds) {
            clearTimeout(timer);
            timer = setTimeout(() => {
              if (request) return later(1000);
              request = keep().finally(() => { request = null; });
            }, milliseconds);
          }
          async function keep() {
            const count = changes;
            isReached = false;
            try {
              const body = new URLSearchParams(new FormData(form)), signal = AbortSignal.timeout(10000);
              // Whatever the server answers, there is a connection to it.
              const response = await fetch(mark.dataset.draft + "&script=1", { method: "POST", body, redirect: "manual", signal });
              isReached = true;
              if (!response.ok) throw new Error(response.status);
              const draft = await response.json();
              mark.value = draft.id;
              kept = count;
              note.textContent = "Kept as a draft at " + new Date(draft.saved_at).toLocaleTimeString("en-GB", { timeStyle: "short" }) + ".";
            } catch (error) {
              note.textContent = error.message === "401"
                ? "You are signed out. What you wrote stays on this page: Save keeps it as your draft, and leads you to sign in."
                : "Not kept as a draft yet: the server did not take it. Press the button to try now.";
              later(20000);
            }
          }
          form.addEventListener("input", () => { changes += 1; later(4000); });
          // The form is kept before it is sent: without a connection the browser would put its own page in place of this one. And without
          // the id in the answer, what is being kept would stay behind as a draft of what is saved now.
          form.addEventListener("submit", async (event) => {
            clearTimeout(timer);
            if (isSure || !request && changes === kept) { isLeaving = true; return; }
            event.preventDefault();
            if (isLeaving) return;
            isLeaving = true;
            await request;
            if (changes > kept) { request = keep(); await request; request = null; }
            clearTimeout(timer);
            isLeaving = false;
            if (!isReached) {
              note.textContent = "Not sent: there is no connection to the server. What you wrote is still here; press the button again.";
              return later(20000);
            }
            isSure = true;
            form.requestSubmit(event.submitter);
            isSure = false;
          });
          // The browser brought a page back whose form was sent.
          addEventListener("pageshow", () => { isLeaving = false; });
          addEventListener("beforeunload", (event) => { if (changes > kept && !isLeaving) event.preventDefault(); });
        }
        for (const mark of document.querySelectorAll("[data-draft]")) keepDraft(mark);

        """
}

/// A style sheet or script. Its path holds a hash of its content, so that browsers may keep it for
/// ever.
struct Asset: Sendable {
    let path: String
    let type: String
    let text: String

    private init(name: String, ending: String, type: String, _ text: String) {
        path = "/assets/\(name)-\(SHA256.hex(SHA256.digest(of: Array(text.utf8))).prefix(16)).\(ending)"
        self.type = type
        self.text = text
    }

    /// The style of pages, and of reports inside of them.
    static let style = Asset(
        name: "console", ending: "css", type: "text/css; charset=utf-8",
        "\(PageStyle.sheet.markup)\(ReportPage.style.markup)\(ConsoleStyle.sheet)\(ComposerStyle.sheet)")

    /// What pages do where scripts run.
    static let script = Asset(
        name: "console", ending: "js", type: "text/javascript; charset=utf-8",
        ConsoleScript.text + ComposerScript.text + AudienceScript.text + DraftScript.text)
}
