import Base

/// Texts in cells that are a name of the campaign apart from details that people overlook: without
/// a warning, they would silently be another name.
extension ScanFindings {
    /// Names of one kind, and how rows also spell them.
    private struct SpelledNames {
        /// As messages call one.
        var kind: String
        var names: [String]
        var seen: [Bool]
        /// By number of the name.
        var spellings: SpellingCounts
        var places: [String: SourcePosition]
        /// Those that leave devices out, by number.
        var excluded: Set<Int>
        var notFound: WarningName
    }

    private var spelledNames: [SpelledNames] {
        let (selectors, query) = (plan.selectors, plan.query)
        return [
            SpelledNames(
                kind: "tag", names: selectors.tags.names, seen: seen.tags, spellings: allTagSpellings,
                places: query.places.tags,
                excluded: Set(selectors.tags.numbers(of: query.excludedTags + query.noneTags)), notFound: .tagNotFound),
            SpelledNames(
                kind: "alias", names: selectors.aliases.names, seen: seen.aliases, spellings: aliasSpellings,
                places: query.places.aliases,
                excluded: Set(selectors.aliases.numbers(of: query.excludedAliases)), notFound: .aliasNotFound),
            SpelledNames(
                kind: "registration id", names: selectors.registrationIDs.names, seen: seen.registrationIDs,
                spellings: idSpellings,
                places: query.places.registrationIDs,
                excluded: Set(selectors.registrationIDs.numbers(of: query.excludedRegistrationIDs)),
                notFound: .registrationIDNotFound),
        ]
    }

    /// Names that rows also carry in other spellings. For those that no row carries literally, that
    /// warning says it.
    var spellings: [Diagnostic] {
        listedSpellings + typos
            + spelledNames.flatMap { names in
                names.spellings.byName.sorted { $0.key < $1.key }.filter { names.seen[$0.key] }.flatMap {
                    number, texts in
                    let name = names.names[number]
                    let isEnclosed = { (text: (text: String, rows: Int)) in
                        Spelling.isEnclosed(text.text) != Spelling.isEnclosed(name)
                    }
                    return [texts.filter(isEnclosed), texts.filter { !isEnclosed($0) }].filter { !$0.isEmpty }
                        .map { spelling($0, of: name, kind: names.kind, names.places[name]) }
                }
            }
    }

    /// Tags of the first rows that are most likely a slip for one that leaves devices out. If no
    /// row carries that one, its own warning says it.
    private var typos: [Diagnostic] {
        let (tags, query) = (plan.selectors.tags, plan.query)
        let known = Set(tags.names)
        return Set(tags.numbers(of: query.excludedTags + query.noneTags)).sorted().filter { seen.tags[$0] }.compactMap {
            number in
            let name = tags.names[number]
            let texts = sampledTags.filter {
                isTypo($0, for: name) && !known.contains($0) && plan.selectors.nearTags.number(of: $0) == nil
            }
            .sorted()
            guard !texts.isEmpty else { return nil }
            let message = "\(Self.rows(texts.map { ($0, 0) })), which does not count as the tag '\(Self.shown(name))'"
            let remedy = "If it means the same, leave it out too: \(Self.flowList([name] + texts.prefix(3)))."
            guard let place = query.places.tags[name] else {
                return .warning(.tagSpelling, message: message, remedy: remedy)
            }
            return .warning(.tagSpelling, message: message, at: place, remedy: remedy)
        }
    }

    /// - Throws: excluded names that miss rows because of quotes around one of the two, or because
    ///   the campaign has an invisible character or a letter of another script in the name, unless
    ///   the campaign allows it.
    func checkExclusions() throws(Diagnostics) {
        let listed = plan.query.allowed.contains(.tagSpelling) ? [] : listedSpellings
        var mistakes =
            listed.map { Self.mistake($0, .tagSpelling, what: "registration id") }
            + spelledNames.flatMap { names in
                names.excluded.sorted().compactMap { number in missed(number, of: names) }
            }
        if !plan.query.allowed.contains(.tagSpelling) {
            for (condition, found) in zip(plan.query.conditions, conditions) where found.missesEnclosed(condition) {
                mistakes += found.disguises(condition).map { Self.mistake($0, .tagSpelling, what: "text") }
            }
        }
        if unreadValidity.rows > 0 {
            let file = plan.files.first { $0.plan.validity != nil }?.path
            mistakes.append(unreadValidity.refusal(AudienceResult.validityColumn, file: file))
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// Registration ids of the exports that a list of excluded devices has in another form.
    private var listedSpellings: [Diagnostic] {
        guard let texts = listedInDisguise.byName[0], let first = texts.first else { return [] }
        let core = String(Spelling.core(first.text[...]))
        return [
            .warning(
                .tagSpelling,
                message: "\(Self.rows(texts)), which a list of excluded devices has "
                    + "\(Spelling.difference(of: first.text, from: core)) but does not count as it",
                file: plan.files.count == 1 ? plan.files[0].path : nil,
                remedy: Self.remedy(forDisguised: first.text, as: core))
        ]
    }

    private func missed(_ number: Int, of names: SpelledNames) -> Diagnostic? {
        let name = names.names[number]
        if !names.seen[number], !plan.query.allowed.contains(names.notFound), namesSeveral(name, kind: names.kind) {
            let message = "'\(Self.shown(name))' is read as a single \(names.kind), which no row in the exports has"
            var warning = Diagnostic.warning(
                names.notFound, message: message, remedy: remedy(forUnseen: name, kind: names.kind, among: []))
            warning.position = names.places[name]
            return Self.mistake(warning, names.notFound, what: names.kind)
        }
        // Tags in quotes in the exports are separators that do not count.
        let isInCampaign = Spelling.isEnclosed(name) || Spelling.hasInvisible(name)
        let texts = (names.spellings.byName[number] ?? []).filter { text in
            isInCampaign && !names.seen[number] && Spelling.looksTheSame(name, text.text)
                || names.kind != "tag" && Spelling.isEnclosed(text.text) != Spelling.isEnclosed(name)
        }
        let allowance = names.seen[number] ? WarningName.tagSpelling : names.notFound
        guard !texts.isEmpty, !plan.query.allowed.contains(allowance) else { return nil }
        return Self.mistake(
            spelling(texts, of: name, kind: names.kind, names.places[name]), allowance, what: names.kind)
    }

    /// A warning that is an error where devices should be left out.
    private static func mistake(_ warning: Diagnostic, _ name: WarningName, what: String) -> Diagnostic {
        var mistake = warning
        (mistake.severity, mistake.name) = (.error, nil)
        mistake.message += ", and so its devices are not left out"
        let allowance =
            "If it is another \(what), write in the campaign: `allow: [{warning: \(name.rawValue), reason: \"…\"}]`."
        mistake.remedy = [mistake.remedy, allowance].compactMap(\.self).joined(separator: " ")
        return mistake
    }

    /// Includes spellings from the first rows that do not begin like the tag; how many rows have
    /// these is not known.
    private var allTagSpellings: SpellingCounts {
        var counts = tagSpellings
        // Not as strings, which are equal in NFC and NFD.
        let names = Set(plan.selectors.tags.names.map { Array($0.utf8) })
        for text in sampledTags.sorted() where !names.contains(Array(text.utf8)) {
            guard let number = plan.selectors.nearTags.number(of: text), !counts.has(text, of: number) else { continue }
            counts.add(text, of: number, rows: 0)
        }
        return counts
    }

    private static func flowList(_ texts: [String]) -> String {
        "[\(texts.map { TextFormat.yaml($0) }.joined(separator: ", "))]"
    }

    private func spelling(
        _ texts: [(text: String, rows: Int)], of name: String, kind: String, _ place: SourcePosition?
    ) -> Diagnostic {
        let difference = Spelling.difference(of: texts[0].text, from: name)
        let message =
            "\(Self.rows(texts)), which is the \(kind) '\(Self.shown(name))' \(difference) but does not count as it"
        let remedy =
            Spelling.looksTheSame(texts[0].text, name) || Spelling.hasInvisible(name)
            ? Self.remedy(forDisguised: texts[0].text, as: name)
            : "If it means the same, name it too: \(Self.flowList([name] + texts.map(\.text).prefix(3)))."
        guard let place else { return .warning(.tagSpelling, message: message, remedy: remedy) }
        return .warning(.tagSpelling, message: message, at: place, remedy: remedy)
    }

    /// What is probably meant by a name that no row carries.
    func spellingRemedy(forUnseen name: String, kind: String) -> String? {
        guard let names = spelledNames.first(where: { $0.kind == kind }), let number = names.names.firstIndex(of: name),
            let texts = names.spellings.byName[number], let first = texts.first
        else { return nil }
        guard
            Spelling.looksTheSame(first.text, name) || Spelling.hasInvisible(name) || SecretText.holdsToken(first.text)
        else {
            return "Did you mean '\(Self.shown(first.text))'? \(Self.rows(texts))."
        }
        return "\(Self.rows(texts)), which is it \(Spelling.difference(of: first.text, from: name)). "
            + Self.remedy(forDisguised: first.text, as: name, unseen: true)
    }

    /// What to do about a text that looks the same as a name, or nearly.
    static func remedy(forDisguised text: String, as name: String, unseen: Bool = false) -> String {
        if Spelling.isEnclosed(name), !Spelling.isEnclosed(text) { return "Write it without them: \(shown(text))." }
        if Spelling.hasInvisible(name), !Spelling.hasInvisible(text) {
            return "Type it again where you name it: \(shown(text))."
        }
        if Spelling.isEnclosed(text), !Spelling.isEnclosed(name) { return "Write it without them in the export." }
        return unseen ? "Spell it the same in the export." : "Write it the same way in the export."
    }

    static func rows(_ texts: [(text: String, rows: Int)], one: String = "row carries", many: String = "rows carry")
        -> String
    {
        let total = texts.reduce(0) { $0 + $1.rows }
        if total == 0 { return "some rows carry \(list(texts))" }
        return "\(TextFormat.counted(total, one: one, many: many)) \(list(texts))"
    }

    private static func list(_ texts: [(text: String, rows: Int)]) -> String {
        let list = texts.prefix(3).map { "'\(shown($0.text))'" }.joined(separator: ", ")
        return texts.count > 3 ? "\(list) and \(texts.count - 3) other spelling\(texts.count == 4 ? "" : "s")" : list
    }
}
