import Base

/// What cells of tags hold in forms that do not count: what would be taken for no tag of the campaign without a word.
extension HarvestMerger {
    /// - Throws: tags of the campaign that stand behind other separators, unless the campaign allows it.
    func checkTagSeparators() throws(Diagnostics) {
        guard !plan.query.allowed.contains(.tagSeparator) else { return }
        let mistakes = oddMarks(isDoubtful: true).map { warning in
            var mistake = warning
            (mistake.severity, mistake.name) = (.error, nil)
            return mistake
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// The same where it is allowed, and where a blank is mostly part of a tag.
    var tagSeparators: [Diagnostic] { oddMarks(isDoubtful: true) + oddMarks(isDoubtful: false) }

    /// - Parameter isDoubtful: whether the mark separates tags as likely as not. A blank does not where the column uses its separator.
    private func oddMarks(isDoubtful: Bool) -> [Diagnostic] {
        zip(plan.files, tagForms).flatMap { file, forms in
            TagMark.allCases.compactMap { mark in
                guard let sighting = forms.marks[mark], isDoubtful != (mark == .blank && forms.usesSeparator) else { return nil }
                return warning(mark, sighting, forms, file)
            }
        }
    }

    private func warning(_ mark: TagMark, _ sighting: TagForms.Sighting, _ forms: TagForms, _ file: ExportFile) -> Diagnostic {
        let column = file.plan.tagsCell.map { file.header[file.plan.columns[$0]] } ?? "tags"
        let (tag, cell) = (plan.selectors.tags.names[sighting.tag], sighting.cell)
        let separator = plan.query.columns.tagSeparator
        let hold = sighting.rows == 1 ? "1 row holds" : "\(TextFormat.count(sighting.rows)) rows hold"
        let evidence = "\(hold) '\(tag)' only so, as in '\(cell)'"
        let allowance = "If '\(cell)' is a single tag, write into the campaign: `allow: [{warning: tag-separator, reason: \"…\"}]`."
        if mark == .enclosure {
            return .warning(
                .tagSeparator, "the column '\(column)' has brackets or quotes that are no list: \(evidence)", file: file.path,
                remedy: "Separate the tags by '\(separator)' in the export, or write a list: [\"a\", \"b\"].")
        }
        if sighting.isElement {
            return .warning(
                .tagSeparator, "an element of the lists in '\(column)' has \(mark.name) in it: \(evidence)", file: file.path,
                remedy: "Give each tag an element of its own in the export. \(allowance)")
        }
        let practice =
            forms.usesSeparator
            ? "separates tags by '\(separator)', and by \(mark.name) as well"
            : "seems to separate tags by \(mark.name), and not by '\(separator)'"
        let message = "the column '\(column)' \(practice): \(evidence)"
        if forms.usesSeparator || mark.yaml == nil {
            return .warning(
                .tagSeparator, message, file: file.path, remedy: "Separate all tags by '\(separator)' in the export. \(allowance)")
        }
        let remedy = "Say in volley.yaml how they are separated: `columns: {tags: {column: \(column), separator: \(mark.yaml ?? "")}}`."
        return .warning(
            .tagSeparator, message, file: file.path, remedy: mark == .blank ? "\(remedy) \(allowance)" : remedy)
    }

    // MARK: - Spellings

    /// Tags and aliases that rows carry in other letters, too. Of those that no row carries as they stand it is said with that.
    var spellings: [Diagnostic] {
        spellings(tagSpellings, plan.selectors.tags.names, seen.tags, "tag", plan.query.places.tags)
            + spellings(aliasSpellings, plan.selectors.aliases.names, seen.aliases, "alias", plan.query.places.aliases)
    }

    private func spellings(
        _ counts: SpellingCounts, _ names: [String], _ seen: [Bool], _ kind: String, _ places: [String: SourcePosition]
    ) -> [Diagnostic] {
        counts.byName.sorted { $0.key < $1.key }.filter { seen[$0.key] }.map { number, texts in
            let name = names[number]
            let message = "\(Self.rows(texts)): the \(kind) '\(name)' but for capitals or blanks, which does not count as it"
            let remedy = "If it means the same, name it as well: [\(name), \(texts.prefix(3).map(\.text).joined(separator: ", "))]."
            guard let place = places[name] else { return .warning(.tagSpelling, message, remedy: remedy) }
            return .warning(.tagSpelling, message, at: place, remedy: remedy)
        }
    }

    /// What is probably meant by a tag or alias that no row carries.
    func spellingRemedy(forUnseen name: String, _ counts: SpellingCounts, _ names: [String]) -> String? {
        guard let number = names.firstIndex(of: name), let texts = counts.byName[number], let first = texts.first else { return nil }
        return "Did you mean '\(first.text)'? \(Self.rows(texts))."
    }

    private static func rows(_ texts: [(text: String, rows: Int)]) -> String {
        let total = texts.reduce(0) { $0 + $1.rows }
        return "\(total == 1 ? "1 row carries" : "\(TextFormat.count(total)) rows carry") \(list(texts))"
    }

    private static func list(_ texts: [(text: String, rows: Int)]) -> String {
        let shown = texts.prefix(3).map { "'\(TextFormat.foreign($0.text, maximumBytes: 60))'" }.joined(separator: ", ")
        return texts.count > 3 ? "\(shown) and \(texts.count - 3) other spelling\(texts.count == 4 ? "" : "s")" : shown
    }
}
