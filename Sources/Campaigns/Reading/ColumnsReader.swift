import Base
import PushServices

/// Reads `columns` of an app: what its exports call the columns that Volley needs.
struct ColumnsReader {
    let names: Section
    /// Of the app; empty if they could not be read.
    let services: [any PushService]

    private var findings: Findings { names.findings }
    private var keys: FileKeys { ProjectKeys.file(of: services.first ?? PushServices.standard) }

    /// The columns; what is wrong in them was reported.
    func columns() -> ExportColumns {
        var columns = ExportColumns()
        for standard in ExportColumns.Standard.allCases {
            let key = standard.rawValue
            if standard == .tags, case .mapping? = names.node(key)?.content {
                readTags(into: &columns)
            } else if let name = names.text(key, example: "\(key): \(key)") {
                columns.names[standard] = name
            }
        }
        for key in ProjectKeys.targetColumns {
            guard let name = names.text(key, example: "\(key): \(key)") else { continue }
            columns.targets[key] = name
            checkService(ofTargets: key)
        }
        for tokens in ActivityTokens.allCases {
            columns.activityTokens[tokens] = names.text(
                tokens.rawValue, example: "\(tokens.rawValue): \(tokens.rawValue)")
        }
        readOnlyTargets(into: &columns)
        columns.service = serviceColumn()
        columns.preference = preference()
        warnOfOneColumn(columns)
        if let rows = names.choice("rows", ExportColumns.Rows.allCases.map { ($0.rawValue, $0) }) {
            columns.rows = rows
        }
        columns.format = names.choice("format", ExportColumns.Format.allCases.map { ($0.rawValue, $0) })
        return columns
    }

    /// In an app with one service, its targets are the tokens, and may be named by either key.
    private func readOnlyTargets(into columns: inout ExportColumns) {
        guard services.count == 1, let key = services.first?.target.column,
            let name = columns.targets.removeValue(forKey: key)
        else {
            return
        }
        if let other = columns.names[.token] {
            findings.error(
                "'\(key)' and 'token' name the same column, and 'token' is in line \(other.position.line)",
                at: names.place(of: key),
                remedy: "Remove one of them.")
        }
        columns.names[.token] = name
    }

    /// A column of targets for a service that the app does not have.
    private func checkService(ofTargets key: String) {
        guard !services.isEmpty, !services.contains(where: { $0.target.column == key }),
            let service = PushServices.all.first(where: { $0.target.column == key })
        else { return }
        findings.error(
            "'\(key)' is the column of \(service.displayName), which this app does not have", at: names.place(of: key),
            remedy: "Add \(service.displayName) to the app's services, or remove the column.")
    }

    // MARK: - Services

    private static let serviceExample = "service: {column: platform, map: {…}}"

    /// A column's name, or `{column: platform, map: {CELL: SERVICE}}`.
    private func serviceColumn() -> ServiceColumn? {
        guard let node = names.node(ProjectKeys.service) else { return nil }
        if services.count == 1 {
            findings.error(
                "'service' in 'columns' chooses among the services of an app, and this app has one",
                at: names.place(of: ProjectKeys.service),
                remedy: "Remove it, or add the others to the app: services: {…}.")
            return nil
        }
        guard case .mapping = node.content else {
            return names.text(node, subject: "'service'", example: Self.serviceExample).map {
                ServiceColumn(column: $0)
            }
        }
        guard
            let section = Section(
                node, ProjectKeys.serviceColumn, of: keys, example: Self.serviceExample, findings: findings)
        else {
            return nil
        }
        let column = section.requiredText("column", example: "column: platform")
        let map = section.node("map").map { entries(of: $0) } ?? []
        return column.map { ServiceColumn(column: $0, map: map) }
    }

    private func entries(of node: YAMLNode) -> [ServiceColumn.Entry] {
        guard let entries = Section.entries(of: node, name: "map", example: "map: {…}", findings: findings) else {
            return []
        }
        var first: [String: SourcePosition] = [:]
        return entries.compactMap { entry -> ServiceColumn.Entry? in
            guard
                let name = names.text(
                    entry.value, subject: "the service of \(quoted(entry.key.value))", example: "map: {…}"),
                isService(name)
            else { return nil }
            let cell = entry.key.value.lowercased().trimmingSpaces()
            if let other = first[cell] {
                findings.error(
                    "\(quoted(entry.key.value)) is already in line \(other.line): capitals do not matter here",
                    at: entry.key.position,
                    remedy: "Keep one of them.")
                return nil
            }
            first[cell] = entry.key.position
            return ServiceColumn.Entry(cell: entry.key, service: name)
        }
    }

    private func preference() -> [SourceText] {
        guard let node = names.node(ProjectKeys.prefer) else { return [] }
        guard services.count != 1 else {
            findings.error(
                "'prefer' orders the services of an app, and this app has one", at: names.place(of: ProjectKeys.prefer),
                remedy: "Remove it.")
            return []
        }
        let list = names.names(node, key: ProjectKeys.prefer).names.filter(isService)
        if list.isEmpty, names.names(node, key: ProjectKeys.prefer).file != nil {
            names.wrongKind(
                "'prefer'", node, must: "a list of services",
                example: "prefer: [\(services.map(\.name).joined(separator: ", "))]")
        }
        return list
    }

    /// Whether the app has a service of that name; reported if not.
    private func isService(_ name: SourceText) -> Bool {
        guard !services.isEmpty, !services.contains(where: { $0.name == name.value }) else { return true }
        let known = services.map(\.name)
        let exists = PushServices.named(name.value).map { "\($0.displayName) is not among the app's services" }
        findings.error(
            exists ?? "there is no service \(quoted(name.value))", at: name.position,
            remedy: meant(by: name.value, among: known).map { "Did you mean '\($0)'?" }
                ?? "The app has \(andList(known)).")
        return false
    }

    private func meant(by name: String, among known: [String]) -> String? {
        let service = PushServices.meant(by: name)?.name
        return service.flatMap { known.contains($0) && $0 != name ? $0 : nil }
    }

    // MARK: - Names

    /// A device's name, owner, language and place each have a column of their own.
    private func warnOfOneColumn(_ columns: ExportColumns) {
        let kinds: [ExportColumns.Standard] = [.registrationID, .alias, .tags, .language, .timezone]
        for (number, kind) in kinds.enumerated() {
            guard let name = columns.names[kind],
                let other = kinds[..<number].first(where: { columns.names[$0]?.value == name.value })
            else {
                continue
            }
            findings.warning(
                .columnTwice,
                message: "'\(other.rawValue)' and '\(kind.rawValue)' are read from one column, \(quoted(name.value))",
                at: name.position,
                remedy: "Name the column of each.")
        }
    }

    private func readTags(into columns: inout ExportColumns) {
        let example = "tags: {column: tags, separator: \";\"}"
        guard let node = names.node("tags"),
            let tags = Section(node, ProjectKeys.tags, of: keys, example: example, findings: findings)
        else { return }
        columns.names[.tags] = tags.text("column", example: "column: tags")
        guard let separator = tags.node("separator") else { return }
        guard let text = separator.text, text.value.unicodeScalars.count == 1, !separator.isNull, text.value != "\"",
            text.value != "\n"
        else {
            tags.wrongKind(
                "'separator'", separator, must: "a single character such as ; or |", example: "separator: \";\"")
            return
        }
        columns.tagSeparator = text.value
    }
}

/// `one, two and three`
private func andList(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + last
}
