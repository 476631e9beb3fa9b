/// The script of "Who": tags are searched, and a condition offers what fits its column. The form
/// works without it.
enum AudienceScript {
    static let text = """

        // A field that hides the tags without what is typed in it. Checked ones stay.
        function searchTags(group) {
          const label = document.createElement("label"), field = document.createElement("input");
          label.className = "part search";
          label.append("Search these tags ", field);
          field.type = "search";
          field.autocomplete = "off";
          group.querySelector("legend").after(label);
          function boxes() { return [...group.querySelectorAll(".box")]; }
          function offer() { label.hidden = boxes().length <= 12; }
          // It is no value of the form, and Enter does not save.
          field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
          field.addEventListener("change", (event) => event.stopPropagation());
          field.addEventListener("input", (event) => {
            event.stopPropagation();
            const words = field.value.trim().toLowerCase();
            for (const box of boxes()) {
              box.hidden = !!words && !box.querySelector("input").checked && !box.textContent.toLowerCase().includes(words);
            }
            for (const more of group.querySelectorAll("details")) if (words) more.open = true;
          });
          // Tags are filled in when they are counted.
          new MutationObserver(offer).observe(group, { childList: true, subtree: true });
          offer();
        }

        const fitting = {
          text: ["is", "oneOf", "not", "present", "missing"],
          number: ["is", "oneOf", "not", "ge", "gt", "le", "lt", "present", "missing"],
          version: ["is", "oneOf", "not", "ge", "gt", "le", "lt", "present", "missing"],
          date: ["within", "olderThan", "ge", "gt", "le", "lt", "present", "missing"],
        };

        // A row of a condition: the comparisons and values that fit its column.
        function fitCondition(row) {
          const column = row.querySelector("[name$='.column']"), test = row.querySelector("[name$='.test']");
          const value = row.querySelector("[name$='.value']");
          function fit() {
            const known = [...document.querySelectorAll("#columns option")].find((option) => option.value === column.value.trim());
            const fits = fitting[known?.dataset.kind];
            for (const option of test.options) option.hidden = option.disabled = !!fits && !fits.includes(option.value) && !option.selected;
            if (fits && !fits.includes(test.value) && !value.value) test.value = fits[0];
            const isDay = known?.dataset.kind === "date" && ["ge", "gt", "le", "lt"].includes(test.value);
            // A value that is no day stays visible as a text.
            if (isDay && (!value.value || /^\\d{4}-\\d\\d-\\d\\d$/.test(value.value))) value.type = "date";
            else if (value.type === "date") value.type = "text";
            value.setAttribute("list", `values-of-${column.value.trim()}`);
            value.closest(".part").hidden = ["present", "missing"].includes(test.value);
          }
          column.addEventListener("change", fit);
          test.addEventListener("change", fit);
          fit();
        }

        // Further rows, as many as are needed.
        function addConditions(group) {
          const count = group.querySelector("[name='where.rows']"), button = document.createElement("button");
          button.type = "button";
          button.textContent = "Add a condition";
          button.addEventListener("click", () => {
            const rows = group.querySelectorAll(".condition"), number = Number(count.value), row = rows[rows.length - 1].cloneNode(true);
            for (const field of row.querySelectorAll("[name]")) {
              field.name = field.name.replace(/^where\\.\\d+/, `where.${number}`);
              if (field.id) field.id = field.id.replace(/^where\\.\\d+/, `where.${number}`);
              if (field.matches("input")) field.value = "";
            }
            for (const label of row.querySelectorAll("label")) label.htmlFor = label.htmlFor.replace(/^where\\.\\d+/, `where.${number}`);
            for (const mistake of row.querySelectorAll(".mistakes")) mistake.remove();
            row.removeAttribute("aria-describedby");
            row.setAttribute("aria-label", `Condition ${number + 1}`);
            row.querySelector("select").value = "is";
            count.value = number + 1;
            rows[rows.length - 1].after(row);
            fitCondition(row);
            row.querySelector("[name$='.column']").focus();
          });
          group.querySelector(".note").before(button);
          for (const row of group.querySelectorAll(".condition")) fitCondition(row);
        }

        for (const group of document.querySelectorAll("fieldset.tags")) searchTags(group);
        for (const group of document.querySelectorAll("fieldset.conditions")) addConditions(group);

        """
}
