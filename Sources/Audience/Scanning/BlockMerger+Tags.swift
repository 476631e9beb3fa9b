import Base

/// What cells of tags hold in forms that do not count: what would be taken for no tag of the campaign without a word.
extension BlockMerger {
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

    /// - Parameter isDoubtful: whether the mark separates tags as likely as not. A blank does not where the column uses its separator, and some marks
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
        let hold = TextFormat.counted(sighting.rows, "row holds", "rows hold")
        let evidence = "\(hold) '\(tag)' only so, as in '\(cell)'"
        let allowance = "If '\(cell)' is a single tag, write into the campaign: `allow: [{warning: tag-separator, reason: \"…\"}]`."
        if let special = special(mark, column, tag, cell, evidence) {
            return .warning(.tagSeparator, special.message, file: file.path, remedy: special.remedy)
        }
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
        if mark.isOftenPart {
            return .warning(
                .tagSeparator, "the column '\(column)' may separate tags by \(mark.name) as well: \(evidence)", file: file.path,
                remedy:
                    "If '\(cell)' is several tags, separate them by '\(separator)' in the export\(forms.usesSeparator ? "" : ", or name the separator in volley.yaml"). "
                    + allowance)
        }
        // Of several marks none can be named as the one that separates.
        let isOnly = forms.marks.keys.count { ($0.sequence != nil || !$0.characters.isEmpty) && !$0.isOftenPart } < 2
        if forms.usesSeparator || mark.yaml == nil || !isOnly {
            return .warning(
                .tagSeparator, message, file: file.path, remedy: "Separate all tags by '\(separator)' in the export. \(allowance)")
        }
        let remedy = "Say in volley.yaml how they are separated: `columns: {tags: {column: \(column), separator: \(mark.yaml ?? "")}}`."
        return .warning(
            .tagSeparator, message, file: file.path, remedy: mark == .blank ? "\(remedy) \(allowance)" : remedy)
    }

    /// Forms of a single tag that are no separator.
    private func special(_ mark: TagMark, _ column: String, _ tag: String, _ cell: String, _ evidence: String) -> (
        message: String, remedy: String
    )? {
        let alone = "Write the tag alone in the export: \(tag). Or name it as it stands there: tags: [\(tag), \"\(cell)\"]."
        switch mark {
        case .object:
            let separator = plan.query.columns.tagSeparator
            return (
                "the column '\(column)' holds objects with names and values: \(evidence)",
                "Write the names alone in the export, separated by '\(separator)', or as a list: [\"a\", \"b\"]."
            )
        case .hash: return ("tags in '\(column)' stand behind '#': \(evidence)", alone)
        case .value: return ("tags in '\(column)' stand beside values: \(evidence)", alone)
        default: return nil
        }
    }

    // MARK: - Spellings

    /// Tags and aliases that rows carry in other letters, too. Of those that no row carries as they stand it is said with that.
    var spellings: [Diagnostic] {
        spellings(allTagSpellings, plan.selectors.tags.names, seen.tags, "tag", plan.query.places.tags)
            + spellings(aliasSpellings, plan.selectors.aliases.names, seen.aliases, "alias", plan.query.places.aliases)
    }

    /// With those of the first rows that do not begin as the tag does; of these it is not known how many rows have them.
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
        _ counts: SpellingCounts, _ names: [String], _ seen: [Bool], _ kind: String, _ places: [String: SourcePosition]
    ) -> [Diagnostic] {
        counts.byName.sorted { $0.key < $1.key }.filter { seen[$0.key] }.map { number, texts in
            let name = names[number]
            let difference = Spelling.difference(of: texts[0].text, from: name)
            let message = "\(Self.rows(texts)): the \(kind) '\(name)' \(difference), which does not count as it"
            let remedy =
                Self.looksTheSame(texts[0].text, name)
                ? "Write it alike in the export."
                : "If it means the same, name it as well: \(Self.flowList([name] + texts.map(\.text).prefix(3)))."
            guard let place = places[name] else { return .warning(.tagSpelling, message, remedy: remedy) }
            return .warning(.tagSpelling, message, at: place, remedy: remedy)
        }
    }

    /// What is probably meant by a tag or alias that no row carries.
    func spellingRemedy(forUnseen name: String, _ counts: SpellingCounts, _ names: [String]) -> String? {
        guard let number = names.firstIndex(of: name), let texts = counts.byName[number], let first = texts.first else { return nil }
        guard Self.looksTheSame(first.text, name) else { return "Did you mean '\(first.text)'? \(Self.rows(texts))." }
        return "\(Self.rows(texts)), which is it \(Spelling.difference(of: first.text, from: name)). Write it alike in the export."
    }

    private static func looksTheSame(_ text: String, _ name: String) -> Bool { text == name || Spelling.hasInvisible(text) }

    private static func rows(_ texts: [(text: String, rows: Int)]) -> String {
        let total = texts.reduce(0) { $0 + $1.rows }
        if total == 0 { return "some rows carry \(list(texts))" }
        return "\(TextFormat.counted(total, "row carries", "rows carry")) \(list(texts))"
    }

    private static func list(_ texts: [(text: String, rows: Int)]) -> String {
        let shown = texts.prefix(3).map { "'\(TextFormat.foreign($0.text, maximumBytes: 60))'" }.joined(separator: ", ")
        return texts.count > 3 ? "\(shown) and \(texts.count - 3) other spelling\(texts.count == 4 ? "" : "s")" : shown
    }
}
