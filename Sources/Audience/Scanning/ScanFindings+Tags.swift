import Base

/// Tags in cells in forms that do not count: without a warning, they would silently not be tags of the campaign.
extension ScanFindings {
    /// - Throws: tags of the campaign that follow other separators, unless the campaign allows it.
    func checkTagSeparators() throws(Diagnostics) {
        guard !plan.query.allowed.contains(.tagSeparator) else { return }
        let mistakes = oddMarks(isDoubtful: true).map { warning in
            var mistake = warning
            (mistake.severity, mistake.name) = (.error, nil)
            return mistake
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// The same where it is allowed, and where a blank is usually part of a tag.
    var tagSeparators: [Diagnostic] { oddMarks(isDoubtful: true) + oddMarks(isDoubtful: false) }

    /// - Parameter isDoubtful: whether the mark may or may not separate tags. A blank does not where the column uses its separator, and some marks
    ///   never do.
    private func oddMarks(isDoubtful: Bool) -> [Diagnostic] {
        zip(plan.files, tagForms).flatMap { file, forms in
            TagMark.allCases.compactMap { mark in
                let isPart = mark.isOftenPart || mark == .blank && forms.usesSeparator
                guard let sighting = forms.marks[mark], isDoubtful != isPart else { return nil }
                return warning(mark, sighting, forms, file)
            }
        }
    }

    private func warning(_ mark: TagMark, _ sighting: TagFormats.Sighting, _ forms: TagFormats, _ file: ExportFile) -> Diagnostic {
        let column = file.plan.tagsCell.map { file.header[file.plan.columns[$0]] } ?? "tags"
        let (tag, cell) = (plan.selectors.tags.names[sighting.tag], sighting.cell)
        let separator = plan.query.columns.tagSeparator
        let hold = TextFormat.counted(sighting.rows, one: "row holds", many: "rows hold")
        let evidence = "\(hold) '\(tag)' only in this form, as in '\(cell)'"
        let allowance = "If '\(cell)' is a single tag, write in the campaign: `allow: [{warning: tag-separator, reason: \"…\"}]`."
        if let special = special(mark, column: column, tag: tag, cell: cell, evidence: evidence) {
            return .warning(.tagSeparator, message: special.message, file: file.path, remedy: special.remedy)
        }
        if mark == .enclosure {
            return .warning(
                .tagSeparator, message: "the column '\(column)' has brackets or quotes that do not form a list: \(evidence)",
                file: file.path,
                remedy: "Separate the tags by '\(separator)' in the export, or write a list: [\"a\", \"b\"].")
        }
        if sighting.isElement {
            return .warning(
                .tagSeparator, message: "an element of the lists in '\(column)' has \(mark.name) in it: \(evidence)", file: file.path,
                remedy: "Give each tag its own element in the export. \(allowance)")
        }
        let practice =
            forms.usesSeparator
            ? "separates tags by '\(separator)', and also by \(mark.name)"
            : "seems to separate tags by \(mark.name), not by '\(separator)'"
        let message = "the column '\(column)' \(practice): \(evidence)"
        if mark.isOftenPart {
            return .warning(
                .tagSeparator, message: "the column '\(column)' may also separate tags by \(mark.name): \(evidence)", file: file.path,
                remedy:
                    "If '\(cell)' is several tags, separate them by '\(separator)' in the export\(forms.usesSeparator ? "" : ", or name the separator in volley.yaml"). "
                    + allowance)
        }
        // With several marks, none can be named as the separator.
        let isOnly = forms.marks.keys.count { ($0.sequence != nil || !$0.characters.isEmpty) && !$0.isOftenPart } < 2
        if forms.usesSeparator || mark.yaml == nil || !isOnly {
            return .warning(
                .tagSeparator, message: message, file: file.path, remedy: "Separate all tags by '\(separator)' in the export. \(allowance)")
        }
        let remedy = "Name the separator in volley.yaml: `columns: {tags: {column: \(column), separator: \(mark.yaml ?? "")}}`."
        return .warning(
            .tagSeparator, message: message, file: file.path, remedy: mark == .blank ? "\(remedy) \(allowance)" : remedy)
    }

    /// Forms of a single tag that are not separators.
    private func special(_ mark: TagMark, column: String, tag: String, cell: String, evidence: String) -> (
        message: String, remedy: String
    )? {
        let alone = "Write only the tag in the export: \(tag). Or name it as written there: tags: [\(tag), \"\(cell)\"]."
        switch mark {
        case .object:
            let separator = plan.query.columns.tagSeparator
            return (
                "the column '\(column)' holds objects with names and values: \(evidence)",
                "Write only the names in the export, separated by '\(separator)', or as a list: [\"a\", \"b\"]."
            )
        case .hash: return ("tags in '\(column)' follow a '#': \(evidence)", alone)
        case .value: return ("tags in '\(column)' have values attached: \(evidence)", alone)
        default: return nil
        }
    }

    // MARK: - Spellings

    /// Tags and aliases that rows also carry in other spellings. For those that no row carries literally, that warning says it.
    var spellings: [Diagnostic] {
        spellings(allTagSpellings, names: plan.selectors.tags.names, seen.tags, kind: "tag", plan.query.places.tags)
            + spellings(aliasSpellings, names: plan.selectors.aliases.names, seen.aliases, kind: "alias", plan.query.places.aliases)
    }

    /// Includes spellings from the first rows that do not begin like the tag; how many rows have these is not known.
    var allTagSpellings: SpellingCounts {
        var counts = tagSpellings
        let names = Set(plan.selectors.tags.names)
        for text in sampledTags.sorted() where !names.contains(text) {
            guard let number = plan.selectors.nearTags.number(of: text), !counts.has(text, of: number) else { continue }
            counts.add(text, of: number, rows: 0)
        }
        return counts
    }

    private static func flowList(_ texts: [String]) -> String {
        let isPlain = { (text: String) in text.allSatisfy { $0.isLetter || $0.isNumber || "-_. ".contains($0) } }
        return "[\(texts.map { isPlain($0) ? $0 : "\"\($0)\"" }.joined(separator: ", "))]"
    }

    private func spellings(
        _ counts: SpellingCounts, names: [String], _ seen: [Bool], kind: String, _ places: [String: SourcePosition]
    ) -> [Diagnostic] {
        counts.byName.sorted { $0.key < $1.key }.filter { seen[$0.key] }.map { number, texts in
            let name = names[number]
            let difference = Spelling.difference(of: texts[0].text, from: name)
            let message = "\(Self.rows(texts)), which is the \(kind) '\(name)' \(difference) but does not count as it"
            let remedy =
                Self.looksTheSame(texts[0].text, name: name)
                ? "Write it the same way in the export."
                : "If it means the same, name it too: \(Self.flowList([name] + texts.map(\.text).prefix(3)))."
            guard let place = places[name] else { return .warning(.tagSpelling, message: message, remedy: remedy) }
            return .warning(.tagSpelling, message: message, at: place, remedy: remedy)
        }
    }

    /// What is probably meant by a tag or alias that no row carries.
    func spellingRemedy(forUnseen name: String, _ counts: SpellingCounts, names: [String]) -> String? {
        guard let number = names.firstIndex(of: name), let texts = counts.byName[number], let first = texts.first else { return nil }
        guard Self.looksTheSame(first.text, name: name) else { return "Did you mean '\(first.text)'? \(Self.rows(texts))." }
        return "\(Self.rows(texts)), which is it \(Spelling.difference(of: first.text, from: name)). Spell it the same in the export."
    }

    private static func looksTheSame(_ text: String, name: String) -> Bool { text == name || Spelling.hasInvisible(text) }

    private static func rows(_ texts: [(text: String, rows: Int)]) -> String {
        let total = texts.reduce(0) { $0 + $1.rows }
        if total == 0 { return "some rows carry \(list(texts))" }
        return "\(TextFormat.counted(total, one: "row carries", many: "rows carry")) \(list(texts))"
    }

    private static func list(_ texts: [(text: String, rows: Int)]) -> String {
        let shown = texts.prefix(3).map { "'\(TextFormat.foreign($0.text, maximumBytes: 60))'" }.joined(separator: ", ")
        return texts.count > 3 ? "\(shown) and \(texts.count - 3) other spelling\(texts.count == 4 ? "" : "s")" : shown
    }
}
