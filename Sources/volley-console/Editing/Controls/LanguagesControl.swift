import Base
import Campaigns
import Reports

/// The languages of a campaign's texts: a part that opens for each, with how many devices read it,
/// and those that would be worth adding.
enum LanguagesControl {
    private static let path = ["content", "languages"]
    private static let keys = [("title", "Title"), ("subtitle", "Subtitle"), ("body", "Text")]
    /// How many languages are added at once.
    private static let places = 1...4
    /// The fields of a new language.
    private static func added(_ place: Int) -> String { "add.content.languages" + (place == 1 ? "" : ".\(place)") }
    /// A language is suggested from this share of the devices.
    private static let worthAdding = 0.01
    private static let mostSuggested = 5
    /// The tags that can be added, in the order of their names.
    private static let offered = [
        "ar", "zh", "zh-Hans", "zh-Hant", "cs", "da", "nl", "en", "fi", "fr", "de", "el", "he", "hi", "hu", "id", "it",
        "ja", "ko", "ms",
        "nb",
        "pl", "pt", "pt-BR", "ro", "ru", "es", "sv", "th", "tr", "uk", "vi",
    ]

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        edit.keys(at: path).flatMap { texts(of: $0) + [.init(path: path + [$0], label: "", kind: .group)] }
            + [.init(path: path, label: "", kind: .group)]
    }

    private static func texts(of language: String) -> [CampaignForm.Field] {
        keys.map { key, label in
            .init(
                path: path + [language, key], label: "\(label) in \(LanguageName.words(language))",
                kind: key == "body" ? .lines : .line)
        }
    }

    /// The box that removes a language, and the one that confirms its translation.
    private static func remove(_ language: String) -> String { "remove.content.languages.\(language)" }

    // MARK: - The control

    static func html(_ context: ComposerContext) -> HTML {
        let languages = context.edit.keys(at: path)
        let marks = TranslationMark.all(in: context.edit)
        let parts: [HTML] = languages.map { part($0, marks, context) }
        return """
            <fieldset class="field controls languages" id="content.languages"><legend>Languages</legend>
            <p class="note">\(usual(languages, context))</p>
            \(parts)
            \(mistakes(at: "content.languages", context))
            \(adding(languages, context))
            </fieldset>
            """
    }

    /// Which devices read the text above the languages.
    private static func usual(_ languages: [String], _ context: ComposerContext) -> HTML {
        guard let preview = context.preview else { return "Devices of other languages read the text above." }
        let sizes = suggestions(languages, context).map {
            "\(LanguageName.words($0.tag)), \(TextFormat.devices($0.devices))"
        }
        let own: HTML =
            sizes.isEmpty
            ? "" : " Their languages: \(sizes.joined(separator: "; ")). Add those that the text is not written in."
        let devices = TextFormat.counted(
            preview.devices(language: ""), one: "device reads", many: "devices read")
        return languages.isEmpty
            ? "\(devices) the text above.\(own)" : "\(devices) the text above, as theirs is not in this list.\(own)"
    }

    private static func part(_ language: String, _ marks: [TranslationMark], _ context: ComposerContext) -> HTML {
        let place = path + [language]
        let fields = texts(of: language), older = marks.filter { $0.path == place }.flatMap(\.keys)
        let own = mistakes(at: place.joined(separator: "."), context)
        let hasMistake = !own.markup.isEmpty || fields.contains { !context.mistake(of: $0).markup.isEmpty }
        let devices: HTML =
            context.preview.map { " <span class=\"note\">\(TextFormat.devices($0.devices(language: language)))</span>" }
            ?? ""
        let isOpen = hasMistake || !older.isEmpty
        return """
            <details class="language"\(isOpen ? " open" : "" as HTML)><summary><b>\(LanguageName.words(language))</b>\(devices)\
            \(older.isEmpty ? "" : " <b class=\"doubt\">to translate</b>" as HTML)</summary>
            \(MarkControl.html(place, older, context))\(own)
            \(HTML(joined: fields.map { TextCounters.html($0, context) }))
            \(GroupInput.box("Remove this language", name: remove(language), value: "1", isChecked: context.trial.typed[remove(language)] != nil))
            </details>
            """
    }

    private static func mistakes(at name: String, _ context: ComposerContext) -> HTML {
        context.mistake(of: .init(path: name.split(separator: ".").map(String.init), label: "", kind: .group))
    }

    /// New languages, each place in the one before: as many as are needed open without a script.
    private static func adding(_ languages: [String], _ context: ComposerContext) -> HTML {
        let suggested = suggestions(languages, context)
        let typed = { (place: Int, key: String) in context.trial.typed["\(added(place)).\(key)"] ?? "" }
        let isUsed = { place in
            AddedMistake(added(place), context).isThere
                || ["tag", "title", "body"].contains { !typed(place, $0).isEmpty }
        }
        return places.reversed().reduce("") { next, place in
            let name = added(place), mistake = AddedMistake(name, context)
            let label: (HTML) -> HTML = { place == 1 ? $0 : "\($0) (\(place))" }
            let isOpen = (place...places.upperBound).contains(where: isUsed)
            return """
                <details class="adding"\(isOpen ? " open" : "" as HTML)><summary>\(place == 1 ? "Add a language" : "Add another language" as HTML)</summary>
                <p class="field"><label for="\(name).tag">\(label("Language"))</label><select id="\(name).tag" name="\(name).tag"\(mistake.attributes)>\
                <option value="">None</option>\(options(languages, suggested, chosen: typed(place, "tag")))</select></p>
                <p class="field"><label for="\(name).title">\(label("Title in this language"))</label>\
                <input id="\(name).title" name="\(name).title" value="\(typed(place, "title"))" dir="auto" autocomplete="off"></p>
                <p class="field"><label for="\(name).body">\(label("Text in this language"))</label>\
                <textarea id="\(name).body" name="\(name).body" rows="2" dir="auto">\n\(typed(place, "body"))</textarea></p>
                \(mistake.html)\(next)</details>
                """
        }
    }

    private static func options(_ languages: [String], _ suggested: [(tag: String, devices: Int)], chosen: String)
        -> HTML
    {
        let known = Set(languages.compactMap { LanguageTag.normalized($0) })
        let first: [HTML] = suggested.map { tag, devices in
            "<option value=\"\(tag)\"\(tag == chosen ? " selected" : "" as HTML)>\(LanguageName.words(tag)): \(TextFormat.devices(devices))</option>"
        }
        let rest: [HTML] = offered.filter { tag in
            !known.contains(LanguageTag.normalized(tag) ?? "") && !suggested.contains { $0.tag == tag }
        }.map { tag in
            "<option value=\"\(tag)\"\(tag == chosen ? " selected" : "" as HTML)>\(LanguageName.words(tag))</option>"
        }
        return HTML(joined: first + rest)
    }

    /// Languages of many devices that read the text above, the largest first: one of them may be
    /// that text's own.
    private static func suggestions(_ languages: [String], _ context: ComposerContext) -> [(tag: String, devices: Int)]
    {
        guard let preview = context.preview else { return [] }
        let known = Set(languages.compactMap { LanguageTag.normalized($0) })
        var sizes: [String: Int] = [:]
        for (name, devices) in preview.languages {
            let tags = LanguageTag.fallbacks(of: name)
            // Counted as the language that a text would have: `de` for `de-AT`.
            guard let tag = offered(tags), !tags.contains(where: known.contains) else { continue }
            sizes[tag, default: 0] += devices
        }
        let least = max(1, Int(Double(preview.audience) * worthAdding))
        return sizes.filter { $0.value >= least }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(
            mostSuggested
        ).map {
            ($0.key, $0.value)
        }
    }

    /// The first of some tags that can be added, as it is written here.
    private static func offered(_ tags: [String]) -> String? {
        tags.lazy.compactMap { tag in offered.first { LanguageTag.normalized($0) == tag } }.first
    }

    // MARK: - What was chosen

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        var mistakes: [String: Mistake] = [:]
        for language in edit.keys(at: path) {
            let place = path + [language]
            if form[remove(language)] != nil {
                do throws(Mistake) {
                    try TranslationMark.confirm(place, in: &edit)
                    try edit.set(nil, at: place)
                } catch { mistakes[place.joined(separator: ".")] = error }
            } else {
                mistakes.merge(CampaignForm.apply(form, to: &edit, texts(of: language))) { first, _ in first }
                if let mistake = MarkControl.apply(form, place, to: &edit) {
                    mistakes[place.joined(separator: ".")] = mistake
                }
            }
        }
        for place in places {
            do throws(Mistake) { try add(added(place), form, to: &edit) } catch { mistakes[added(place)] = error }
        }
        return mistakes
    }

    private static func add(_ name: String, _ form: [String: String], to edit: inout YAMLEdit) throws(Mistake) {
        let texts = [("title", form[name + ".title"] ?? ""), ("body", form[name + ".body"] ?? "")].map {
            ($0, CampaignForm.trimmed($1))
        }
        .filter { !$0.1.isEmpty }
        guard let tag = form[name + ".tag"], !tag.isEmpty else {
            guard texts.isEmpty else {
                throw Mistake("the language is missing", remedy: "Choose one, or clear its texts.")
            }
            return
        }
        guard LanguageTag.normalized(tag) != nil else {
            throw Mistake("this is not a language", remedy: "Choose one of the list.")
        }
        guard !edit.keys(at: path).contains(where: { LanguageTag.normalized($0) == LanguageTag.normalized(tag) }) else {
            throw Mistake("the campaign has this language already", remedy: "Change its texts above.")
        }
        guard !texts.isEmpty else {
            throw Mistake(
                "\(LanguageName.words(tag)) has no text yet", remedy: "Write a title or a text, or choose no language.")
        }
        for (key, text) in texts { try edit.set(.text(text), at: path + [tag, key]) }
    }
}

/// A mark that texts are older than those that they belong to, and the box that takes it away.
enum MarkControl {
    private static func name(_ path: [String]) -> String { "confirm." + path.joined(separator: ".") }

    static func html(_ path: [String], _ older: [String], _ context: ComposerContext) -> HTML {
        guard !older.isEmpty else { return "" }
        let words = older.map(FieldWords.label).joined(separator: " and ")
        return """
            <div class="stop" role="status"><p>\(words): older than the text that it belongs to.</p>\
            \(GroupInput.box("It is right now", name: name(path), value: "1", isChecked: context.trial.typed[name(path)] != nil))</div>
            """
    }

    /// The marks of texts without fields of their own.
    /// - Parameter shown: what has the others.
    static func rest(besides shown: HTML, _ context: ComposerContext) -> HTML {
        let all = TranslationMark.all(in: context.edit)
        guard !all.isEmpty else { return "" }
        // The attributes of the others, which may have long texts between them.
        let names = Set(
            shown.markup.utf8.split(separator: UInt8(ascii: "\"")).filter { $0.starts(with: name([]).utf8) }.map {
                String(decoding: $0, as: UTF8.self)
            })
        let marks = all.filter { mark in
            !names.contains(HTML.escaped(name(mark.path))) && context.edit.lines(at: mark.path) != nil
        }
        let parts: [HTML] = marks.map { mark in
            let texts = mark.keys.map { CampaignForm.text(of: (try? context.edit.value(at: mark.path + [$0])) ?? nil) }
            return """
                <p class="field"><b dir="auto">\(TextFormat.capitalized(TextPlace.name(mark.path)))</b>: <span dir="auto">\(texts.joined(separator: "; "))</span></p>\
                \(html(mark.path, mark.keys, context))\(AddedMistake(mark.path.joined(separator: "."), context).html)
                """
        }
        return parts.isEmpty
            ? ""
            : "<fieldset class=\"field controls\" id=\"older\"><legend>Older texts that have no fields here</legend>\(parts)</fieldset>"
    }

    /// The same marks, confirmed.
    static func applyRest(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        TranslationMark.all(in: edit).reduce(into: [:]) { mistakes, mark in
            if let mistake = apply(form, mark.path, to: &edit) { mistakes[mark.path.joined(separator: ".")] = mistake }
        }
    }

    static func apply(_ form: [String: String], _ path: [String], to edit: inout YAMLEdit) -> Mistake? {
        guard form[name(path)] != nil else { return nil }
        do throws(Mistake) { try TranslationMark.confirmAlone(path, in: &edit) } catch { return error }
        return nil
    }
}

/// Why something new could not be added, at the field that names it.
struct AddedMistake {
    private let name: String
    private let mistake: Mistake?

    init(_ name: String, _ context: ComposerContext) { (self.name, mistake) = (name, context.trial.mistakes[name]) }

    var isThere: Bool { mistake != nil }
    var attributes: HTML { isThere ? " aria-invalid=\"true\" aria-describedby=\"\(name)-mistake\"" : "" }
    var html: HTML {
        mistake.map { "<span class=\"stop\" id=\"\(name)-mistake\">\(FieldWords.text(Diagnostic($0)))</span>" } ?? ""
    }
}
