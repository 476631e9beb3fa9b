/// Keeps what is typed into a campaign's form as a draft, some seconds after the last change, and asks before unsaved text is left.
enum DraftScript {
    static let text = """
        function keepDraft(mark) {
          const form = mark.form, note = form.querySelector("[data-draft-note]");
          let timer, request, changes = 0, kept = 0, isLeaving = false;
          function later(milliseconds) { clearTimeout(timer); timer = setTimeout(keep, milliseconds); }
          async function keep() {
            request?.abort();
            const own = request = new AbortController(), count = changes;
            try {
              const body = new URLSearchParams(new FormData(form));
              const response = await fetch(mark.dataset.draft + "&script=1", { method: "POST", body, redirect: "error", signal: own.signal });
              if (!response.ok) throw new Error(response.status);
              const draft = await response.json();
              mark.value = draft.id;
              kept = count;
              note.textContent = "Kept as a draft at " + new Date(draft.saved_at).toLocaleTimeString([], { timeStyle: "short" }) + ".";
            } catch {
              if (own.signal.aborted) return;
              note.textContent = "Not kept as a draft yet: the server did not take it. Press the button to try now.";
              later(20000);
            }
          }
          form.addEventListener("input", () => { changes += 1; later(4000); });
          form.addEventListener("submit", () => { isLeaving = true; clearTimeout(timer); request?.abort(); });
          // The browser brought a page back whose form was sent.
          addEventListener("pageshow", () => { isLeaving = false; });
          addEventListener("beforeunload", (event) => { if (changes > kept && !isLeaving) event.preventDefault(); });
        }
        for (const mark of document.querySelectorAll("[data-draft]")) keepDraft(mark);

        """
}
