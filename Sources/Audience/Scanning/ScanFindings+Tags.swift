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
            forms.inOrder.filter { mark, _ in isDoubtful != (mark.isOftenPart || mark == .blank && forms.usesSeparator) }
                .prefix(Self.mostMarks).map { mark, sighting in
                    var warning = warning(mark, sighting, forms, file)
                    warning.position = SourcePosition(file: file.path, line: sighting.line, column: 1)
                    return warning
                }
        }
    }

    /// Signs of one file that are named.
    private static let mostMarks = 10

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
        let isOnly = forms.marks.keys.count { $0.isSeparator && !$0.isOftenPart } < 2
        if forms.usesSeparator || mark.yaml == nil || !isOnly {
            return .warning(
                .tagSeparator, message: message, file: file.path, remedy: "Separate all tags by '\(separator)' in the export. \(allowance)")
        }
        let remedy =
            "Name the separator in volley.yaml: `columns: {tags: {column: \(TextFormat.yaml(column)), separator: \(mark.yaml ?? "")}}`."
        return .warning(
            .tagSeparator, message: message, file: file.path, remedy: mark == .blank ? "\(remedy) \(allowance)" : remedy)
    }

    /// Forms of a single tag that are not separators.
    private func special(_ mark: TagMark, column: String, tag: String, cell: String, evidence: String) -> (
        message: String, remedy: String
    )? {
        let alone =
            "Write only the tag in the export: \(tag). Or name it as written there: tags: [\(TextFormat.yaml(tag)), \(TextFormat.yaml(cell))]."
        switch mark {
        case .object:
            let separator = plan.query.columns.tagSeparator
            return (
                "the column '\(column)' holds objects with names and values: \(evidence)",
                "Write only the tags in the export, separated by '\(separator)', or as a list: [\"a\", \"b\"]. If '\(tag)' is no tag there, "
                    + "write in the campaign: `allow: [{warning: tag-separator, reason: \"…\"}]`."
            )
        case .writtenOut:
            return (
                "tags in '\(column)' have characters that a program wrote out: \(evidence)", "Write the tag itself in the export: \(tag)."
            )
        case .hash: return ("tags in '\(column)' follow a '#': \(evidence)", alone)
        case .value: return ("tags in '\(column)' have values attached: \(evidence)", alone)
        // `!vip` may be the opposite of vip.
        case .sign:
            return (
                "tags in '\(column)' have a sign before or after them: \(evidence)", "\(alone) First find out what the sign means there."
            )
        default: return nil
        }
    }
}
