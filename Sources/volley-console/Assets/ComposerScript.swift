/// The composer's script: the phone follows the fields, columns are inserted, and what phones show
/// is counted. The form works without it.
enum ComposerScript {
    static let text = """

        // The fields are sent when they change, one request at a time; the server renders what devices would see.
        function followFields(form, side) {
          let timer, isAsking = false, isChanged = true, failures = 0, device = "";
          function later(milliseconds) { clearTimeout(timer); timer = setTimeout(ask, milliseconds); }
          async function ask() {
            if (isAsking || document.hidden) return later(1000);
            isAsking = true;
            isChanged = false;
            let wait = 0;
            try {
              const body = new URLSearchParams(new FormData(form));
              body.set("phone", device);
              const response = await fetch(side.dataset.phone, {
                method: "POST", body, headers: { accept: "application/json" }, redirect: "error" });
              if (!response.ok) throw new Error(response.status);
              const answer = await response.json();
              failures = 0;
              if (answer.is_live) wait = 400;
              for (const [name, markup] of Object.entries(answer.pieces)) {
                // The server made this markup, as it makes the page.
                const place = document.querySelector(`[data-fill="${name}"]`);
                if (!place || place.dataset.last === markup) continue;
                const chosen = place.value, pressed = place.contains(document.activeElement) && document.activeElement.textContent;
                place.dataset.last = markup;
                if (place.innerHTML !== markup) place.innerHTML = markup;
                if (chosen) place.value = chosen;
                // The button that was pressed keeps the focus.
                if (pressed) [...place.querySelectorAll("button")].find((button) => button.textContent === pressed)?.focus();
              }
            } catch { failures += 1; if (failures < 5) wait = 2000 * 2 ** failures; }
            isAsking = false;
            if (wait || isChanged) later(wait || 400);
          }
          form.addEventListener("input", () => { isChanged = true; later(400); });
          form.addEventListener("change", () => { isChanged = true; later(400); });
          side.addEventListener("click", (event) => {
            const button = event.target.closest("button[name=phone]");
            if (!button) return;
            event.preventDefault();
            device = button.value;
            isChanged = true;
            later(0);
          });
          later(0);
        }

        // The phone with the text of the fields that have the focus is shown, also after the phones were filled in again.
        function followFocus(form, side) {
          let variant = "", language = "";
          function show() {
            const phones = side.querySelector(".phones");
            const phone = [...(phones?.children ?? [])].find((phone) => phone.dataset.language === language && (!variant || phone.dataset.variant === variant));
            if (phone) phones.scrollTo({ left: phone.offsetLeft - phones.firstElementChild.offsetLeft });
          }
          form.addEventListener("focusin", (event) => {
            const place = /^(?:variants\\.([^.]+)\\.)?content\\.(?:languages\\.([^.]+)\\.)?(?:title|subtitle|body)$/.exec(event.target.name);
            if (!place) return;
            [variant, language] = [place[1] ?? "", place[2] ?? ""];
            show();
          });
          const place = side.querySelector("[data-fill=phone]");
          if (place) new MutationObserver(show).observe(place, { childList: true });
        }

        // A line is not the whole form: Enter in one saves nothing half-made. Buttons keep it.
        function keepEnter(form) {
          form.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && event.target.matches("input") && !event.isComposing) event.preventDefault();
          });
        }

        // Columns and emoji are inserted where the cursor was last in a text.
        function insertInto(form) {
          let field = form.querySelector("[data-count] input:not([type]), [data-count] textarea");
          const isText = (target) => target.matches("input:not([type]), textarea") && /\\.(title|subtitle|body)$/.test(target.name);
          form.addEventListener("focusin", (event) => { if (isText(event.target)) field = event.target; });
          function insert(text) {
            if (!field) return;
            field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
            field.dispatchEvent(new Event("input", { bubbles: true }));
            field.focus();
          }
          const tool = form.querySelector("[data-insert]");
          if (tool) insertColumns(tool, insert);
          form.querySelector("[data-emoji]")?.addEventListener("click", (event) => {
            const sign = event.target.closest("button");
            if (sign) insert(sign.textContent);
          });
        }

        // A column that is blank for some devices needs a second press, or what to write for them.
        function insertColumns(tool, insert) {
          const column = tool.querySelector("select"), fallback = tool.querySelector("input"), note = tool.querySelector("[role=status]");
          let asked;
          tool.querySelector("button").addEventListener("click", () => {
            const name = column.value, words = fallback.value.trim(), quote = words.includes("'") ? '"' : "'";
            const blank = column.selectedOptions[0]?.dataset.blank;
            if (!name) return;
            if (!words && blank !== "0" && asked !== name) {
              const share = blank ? `${name} is blank for ${blank} of the devices, which` : "Devices without a value";
              note.textContent = `${share} get nothing, unless you say what to write instead. Insert again to leave it so.`;
              asked = name;
              return fallback.focus();
            }
            note.textContent = "";
            asked = undefined;
            fallback.value = "";
            insert(words ? `{{ ${name} | default: ${quote}${words.replaceAll(quote, "")}${quote} }}` : `{{ ${name} }}`);
          });
        }

        // Wide characters take two places, and tags none.
        function columns(text) {
          const shown = text.replace(/\\{\\{.*?\\}\\}|\\{%.*?%\\}/gs, "");
          let count = 0;
          for (const part of shown) {
            count += /[\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6]|\\p{Extended_Pictographic}/u.test(part) ? 2 : 1;
          }
          return count;
        }

        function countText(box) {
          const field = box.querySelector("input[name]:not([type=hidden]), textarea");
          if (!field) return;
          const note = document.createElement("span");
          note.className = "note counter";
          field.after(note);
          const most = Number(box.dataset.most), android = Number(box.dataset.android);
          function count() {
            const length = columns(field.value);
            const parts = most === android ? `phones show about ${most}` : `iPhones show about ${most}, Android about ${android} until it is opened`;
            note.textContent = length ? `${length} characters: lock screens of ${parts}.`.replace("lock screens of phones", "lock screens") : "";
            note.classList.toggle("doubt", length > most);
          }
          field.addEventListener("input", count);
          count();
        }

        function addShares(form, place) {
          function add() {
            const fields = [...form.querySelectorAll("input[name$='.share']:not([type=hidden])")];
            const sum = fields.reduce((sum, field) => sum + (parseFloat(field.value) || 0), 0);
            place.textContent = fields.some((field) => field.value) ? ` Now: ${Math.round(sum * 100) / 100}.` : "";
          }
          form.addEventListener("input", add);
          add();
        }

        const composer = document.getElementById("composer");
        if (composer) {
          const side = document.querySelector("[data-phone]");
          if (side) followFields(composer, side);
          if (side) followFocus(composer, side);
          document.documentElement.classList.add("scripted");
          insertInto(composer);
          keepEnter(composer);
          for (const box of composer.querySelectorAll("[data-count]")) countText(box);
          for (const place of composer.querySelectorAll("[data-shares]")) addShares(composer, place);
        }

        """
}
