import Base
import Campaigns
import Reports

/// Variants next to each other, with their shares, and the share of devices that get nothing.
enum VariantsControl {
    private static let path = ["variants"]
    private static let holdout = "holdout"
    private static let add = "add.variants"
    private static let keys = [("title", "Title"), ("body", "Text")]

    private static func names(in edit: YAMLEdit) -> [String] {
        edit.keys(at: path).filter { name in name != holdout && !edit.keys(at: path + [name]).isEmpty }
    }

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        names(in: edit).flatMap { name in
            fields(of: name) + languages(of: name, in: edit).flatMap { texts(of: name, in: $0, edit) }
                + [.init(path: path + [name], label: "", kind: .group)]
        } + [share(of: holdout), .init(path: path, label: "", kind: .group)]
    }

    private static func content(of name: String) -> [String] { path + [name, "content"] }

    /// The languages of the campaign, in each of which a variant may have a text of its own, and
    /// those that the variant alone has.
    private static func languages(of name: String, in edit: YAMLEdit) -> [String] {
        let all = edit.keys(at: ["content", "languages"]), known = Set(all.compactMap(LanguageTag.normalized))
        let own = edit.keys(at: content(of: name) + ["languages"])
        return all.map { language in
            own.first { LanguageTag.normalized($0) == LanguageTag.normalized(language) } ?? language
        }
            + own.filter { LanguageTag.normalized($0).map { !known.contains($0) } ?? true }
    }

    private static func texts(of name: String, in language: String, _ edit: YAMLEdit) -> [CampaignForm.Field] {
        let words = LanguageName.words(language), tag = LanguageTag.normalized(language)
        let isOfCampaign = edit.keys(at: ["content", "languages"]).contains {
            $0 == language || (tag != nil && LanguageTag.normalized($0) == tag)
        }
        return keys.map { key, label in
            .init(
                path: content(of: name) + ["languages", language, key], label: "\(label) of \(name) in \(words)",
                kind: key == "body" ? .lines : .line,
                hint: isOfCampaign ? "Blank for the campaign’s own in this language." : "")
        }
    }

    private static func share(of name: String) -> CampaignForm.Field {
        .init(
            path: path + [name, "share"],
            label: name == holdout ? "Share of devices that get nothing, for comparison" : "Share of \(name)",
            kind: .number, hint: name == holdout ? "In percent; blank for none." : "In percent.")
    }

    private static func fields(of name: String) -> [CampaignForm.Field] {
        [share(of: name)]
            + keys.map { key, label in
                .init(
                    path: path + [name, "content", key], label: "\(label) of \(name)",
                    kind: key == "body" ? .lines : .line,
                    hint: "Blank for the campaign’s own.")
            }
    }

    private static func remove(_ name: String) -> String { "remove.variants.\(name)" }
    private static func added(_ number: Int, _ key: String) -> String { "\(add).\(number).\(key)" }
    /// Of a campaign without variants two are added, as one alone compares nothing; and as many as
    /// a person filled in before it had some.
    private static func places(_ edit: YAMLEdit, _ form: [String: String]) -> Range<Int> {
        0..<(names(in: edit).isEmpty
            || (["name", "share"] + keys.map(\.0)).contains { !(form[added(1, $0)] ?? "").isEmpty } ? 2 : 1)
    }

    // MARK: - The control

    static func html(_ context: ComposerContext) -> HTML {
        let names = names(in: context.edit), marks = TranslationMark.all(in: context.edit)
        let columns: [HTML] = names.map { column($0, marks, context) }
        let group = CampaignForm.Field(path: path, label: "", kind: .group)
        let places = places(context.edit, context.trial.typed)
        let new: [HTML] = places.map { adding($0, context) }
        let typed = places.contains { number in
            ["name", "share", "title", "body"].contains { !(context.trial.typed[added(number, $0)] ?? "").isEmpty }
        }
        let mistake = context.mistake(of: group)
        let content: HTML = """
            \(mistake)
            \(columns.isEmpty ? "" : "<div class=\"columns\">\(columns)</div>" as HTML)
            <details class="adding"\(typed || names.isEmpty ? " open" : "" as HTML)><summary>Add a variant</summary><div class="columns">\(new)</div></details>
            \(context.control(share(of: holdout)))
            """
        let isUsed = !context.edit.keys(at: path).isEmpty || typed || !mistake.markup.isEmpty
        return """
            <details class="variants"\(isUsed ? " open" : "" as HTML)><summary>Variants: different texts for parts of the devices</summary>
            <fieldset class="field controls" id="variants"><legend>Variants</legend>
            <p class="note">Each device gets the same one in every run of this campaign, until its variants or their shares change. The shares, with \
            that of devices that get nothing, add up to 100.\
            <span data-shares></span></p>
            \(content)</fieldset></details>
            """
    }

    private static func column(_ name: String, _ marks: [TranslationMark], _ context: ComposerContext) -> HTML {
        let place = content(of: name), older = marks.filter { $0.path == place }.flatMap(\.keys)
        let devices: HTML =
            context.preview.map { " <span class=\"note\">\(TextFormat.devices($0.devices(variant: name)))</span>" }
            ?? ""
        let group = CampaignForm.Field(path: path + [name], label: "", kind: .group)
        return """
            <div class="column"><h3>\(name)\(devices)</h3>\(MarkControl.html(place, older, context))\(context.mistake(of: group))
            \(HTML(joined: fields(of: name).map(context.control)))
            \(HTML(joined: languages(of: name, in: context.edit).map { self.language($0, of: name, marks, context) }))
            \(GroupInput.box("Remove this variant", name: remove(name), value: "1", isChecked: context.trial.typed[remove(name)] != nil))</div>
            """
    }

    /// The texts of a variant in a language, folded unless they need a look: a variant with a text
    /// of its own has another one for devices of this language only if it is written here.
    private static func language(
        _ language: String, of name: String, _ marks: [TranslationMark], _ context: ComposerContext
    ) -> HTML {
        let place = content(of: name) + ["languages", language],
            older = marks.filter { $0.path == place }.flatMap(\.keys)
        let fields = texts(of: name, in: language, context.edit)
        func hasText(_ fields: [CampaignForm.Field]) -> Bool {
            fields.contains { context.value(of: $0)?.text.isEmpty == false }
        }
        let isBlank = !hasText(fields)
        let lacksText = isBlank && hasText(self.fields(of: name).filter { $0.path.last != "share" })
        let isOpen = lacksText || !older.isEmpty || fields.contains { !context.mistake(of: $0).markup.isEmpty }
        let devices = context.preview.map { TextFormat.devices($0.devices(variant: name, language: language)) }
        let facts = [
            devices,
            lacksText ? "which read the campaign’s own text, not this variant’s" : isBlank ? "no text of its own" : nil,
        ]
        .compactMap(\.self).joined(separator: ", ")
        return """
            <details class="language"\(isOpen ? " open" : "" as HTML)><summary><b>\(LanguageName.words(language))</b> \
            <span class="note">\(facts)</span>\(older.isEmpty ? "" : " <b class=\"doubt\">to translate</b>" as HTML)</summary>
            \(MarkControl.html(place, older, context))\(HTML(joined: fields.map { TextCounters.html($0, context) }))</details>
            """
    }

    private static func adding(_ number: Int, _ context: ComposerContext) -> HTML {
        func line(_ key: String, _ label: HTML, _ attributes: HTML = "") -> HTML {
            Form.text(
                label, name: added(number, key), value: context.trial.typed[added(number, key)] ?? "",
                attributes: " dir=\"auto\" autocomplete=\"off\"\(attributes)")
        }
        let mistake = AddedMistake("\(add).\(number)", context)
        let body = added(number, "body")
        return """
            <div class="column">\(line("name", "Name of the new variant", mistake.attributes))\(line("share", "Its share in percent", " inputmode=\"decimal\""))\
            \(line("title", "Its title; blank for the campaign’s own"))\
            <p class="field"><label for="\(body)">Its text; blank for the campaign’s own</label>\
            <textarea id="\(body)" name="\(body)" rows="2" dir="auto">\n\(context.trial.typed[body] ?? "")</textarea></p>\(mistake.html)</div>
            """
    }

    // MARK: - What was chosen

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        var mistakes: [String: Mistake] = [:]
        let new = places(edit, form), before = edit.text
        for name in names(in: edit) {
            let place = path + [name]
            if form[remove(name)] != nil {
                do throws(Mistake) {
                    try TranslationMark.confirm(place, in: &edit)
                    try edit.set(nil, at: place)
                } catch { mistakes[place.joined(separator: ".")] = error }
            } else {
                let languages = languages(of: name, in: edit)
                let all = fields(of: name) + languages.flatMap { texts(of: name, in: $0, edit) }
                mistakes.merge(CampaignForm.apply(form, to: &edit, all)) { first, _ in first }
                for marked in [content(of: name)] + languages.map({ content(of: name) + ["languages", $0] }) {
                    if let mistake = MarkControl.apply(form, marked, to: &edit) {
                        mistakes[place.joined(separator: ".")] = mistake
                    }
                }
            }
        }
        for number in new {
            do throws(Mistake) { try applyAdding(number, form, to: &edit) } catch {
                mistakes["\(add).\(number)"] = error
            }
        }
        // Last, as people write it: devices are dealt in the order of the file.
        mistakes.merge(CampaignForm.apply(form, to: &edit, [share(of: holdout)])) { first, _ in first }
        if mistakes.isEmpty, edit.text != before, let mistake = sum(in: edit) { mistakes["variants"] = mistake }
        return mistakes
    }

    private static func applyAdding(_ number: Int, _ form: [String: String], to edit: inout YAMLEdit) throws(Mistake) {
        func typed(_ key: String) -> String { CampaignForm.trimmed(form[added(number, key)] ?? "") }
        let name = typed("name"), share = typed("share")
        guard !name.isEmpty else {
            guard (["share"] + keys.map(\.0)).allSatisfy({ typed($0).isEmpty }) else {
                throw Mistake("the new variant has no name", remedy: "Give it one, such as short; or clear its fields.")
            }
            return
        }
        let isName = name.utf8.allSatisfy {
            $0 < 0x80
                && (Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber
                    || $0 == UInt8(ascii: "-"))
        }
        guard isName, name != "by", name.lowercased() != holdout else {
            throw Mistake(
                "a variant cannot be called '\(name)'", remedy: "Use letters, digits and hyphens, such as short.")
        }
        guard edit.keys(at: path + [name]).isEmpty else {
            throw Mistake("there is a variant '\(name)' already", remedy: "Give the new one another name.")
        }
        guard !share.isEmpty else {
            throw Mistake("the new variant has no share", remedy: "Write one in percent, such as 50.")
        }
        try edit.set(.number(share), at: path + [name, "share"])
        for (key, _) in keys where !typed(key).isEmpty {
            try edit.set(.text(typed(key)), at: path + [name, "content", key])
        }
    }

    /// Shares that do not add up; nil where one is no percentage: the check of the campaign says so
    /// at its field.
    private static func sum(in edit: YAMLEdit) -> Mistake? {
        var shares: [Double] = []
        for name in edit.keys(at: path) {
            guard let value = try? edit.value(at: path + [name, "share"]) else { continue }
            let text = CampaignForm.text(of: value)
            // Infinite and very large numbers are read, too, and no integer holds them.
            guard let share = Double(text.hasSuffix("%") ? String(text.dropLast()) : text), (0...100).contains(share)
            else { return nil }
            shares.append(share)
        }
        let sum = (shares.reduce(0, +) * 100).rounded() / 100
        guard !shares.isEmpty, sum != 100 else { return nil }
        func percent(_ number: Double) -> String { number == number.rounded() ? String(Int(number)) : String(number) }
        return Mistake(
            "the shares add up to \(percent(sum)), not to 100",
            remedy: sum < 100
                ? "Raise them by \(percent((10_000 - sum * 100).rounded() / 100)) in all."
                : "Lower them by \(percent((sum * 100 - 10_000).rounded() / 100)) in all.")
    }
}
