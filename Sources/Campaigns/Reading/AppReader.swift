import Base

/// Reads one app of volley.yaml, part by part.
struct AppReader {
    let section: Section

    private var findings: Findings { section.findings }

    private func subsection(_ key: String, _ group: KeyGroup, example: String) -> Section? {
        section.node(key).flatMap { Section($0, group, of: ProjectKeys.file, example: example, findings: findings) }
    }

    /// Which of the service's servers; nil when absent or wrong, and reported.
    func environment() -> Environment? {
        let example = "environment: sandbox"
        guard let node = section.required("environment", example: example) else { return nil }
        if case .mapping = node.content { return server() }
        if let text = node.text, let meant = Self.meantEnvironment(text.value) {
            section.findings.error(
                "'environment' must be production, sandbox or simulator, not \(quoted(text.value))", at: text.position, remedy: meant)
            return nil
        }
        return section.choice("environment", [("production", .production), ("sandbox", .sandbox), ("simulator", .simulator)])
    }

    /// What to write for a word of other tools.
    private static func meantEnvironment(_ word: String) -> String? {
        switch word.lowercased() {
        case "development", "develop", "dev", "debug", "staging", "stage", "test", "testing", "xcode":
            "Apple calls it sandbox: write environment: sandbox. Apps from TestFlight and the App Store are in production."
        case "prod", "live", "release", "testflight", "appstore": "Write environment: production."
        case "local", "localhost", "mock", "simulated": "Write environment: simulator."
        default: nil
        }
    }

    private func server() -> Environment? {
        let example = "environment: {url: \"https://localhost:2197\", ca: ca.pem}"
        guard let server = subsection("environment", ProjectKeys.environment, example: example) else { return nil }
        let authority = server.text("ca", example: "ca: ca.pem")
        guard let url = server.requiredText("url", example: "url: \"https://localhost:2197\""), server.accepted(url, ServerURL.check) != nil
        else {
            return nil
        }
        return .server(url: url, certificateAuthority: authority)
    }

    /// `key: {file, id, team}`
    func key() -> KeyReference? {
        guard let key = subsection("key", ProjectKeys.key, example: "key: {file: keys/AuthKey.p8, id: ABC123DEFG, team: DEF123GHIJ}") else {
            return nil
        }
        let file = key.requiredText("file", example: "file: keys/AuthKey_ABC123DEFG.p8")
        let keyID = identifier("id", in: key, example: "id: ABC123DEFG")
        let teamID = identifier("team", in: key, example: "team: DEF123GHIJ")
        guard let file, let keyID, let teamID else { return nil }
        return KeyReference(file: file, keyID: keyID, teamID: teamID)
    }

    private func identifier(_ key: String, in section: Section, example: String) -> SourceText? {
        guard let text = section.requiredText(key, example: example) else { return nil }
        let isIdentifier = text.value.utf8.allSatisfy {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        guard isIdentifier, text.value.utf8.count == 10 else {
            section.findings.error(
                "'\(key)' must be exactly 10 capital letters and digits, not \(quoted(text.value))", at: text.position,
                remedy: "Copy it from Apple's developer site, for example: \(example).")
            return nil
        }
        return text
    }

    /// `certificate: {file, passphrase_env}`
    func certificate() -> CertificateReference? {
        let example = "certificate: {file: keys/push.p12, passphrase_env: PUSH_PASSPHRASE}"
        guard let certificate = subsection("certificate", ProjectKeys.certificate, example: example) else { return nil }
        let variable = certificate.variableName("passphrase_env", of: "passphrase", example: "PUSH_PASSPHRASE")
        guard let file = certificate.requiredText("file", example: "file: keys/push.p12") else { return nil }
        return CertificateReference(file: file, passphraseVariable: variable)
    }

    /// One of key and certificate, except that Volley makes a key for its own simulator.
    func checkCredentials(_ environment: Environment?) {
        if section.has("key"), section.has("certificate") {
            findings.error(
                "'key' and 'certificate' exclude each other", at: section.place(of: "certificate"),
                remedy: "Keep the one that this app uses.")
            return
        }
        guard !section.has("key"), !section.has("certificate"), let environment else { return }
        if case .simulator = environment { return }
        findings.error(
            "the app '\(section.group.name)' has neither 'key' nor 'certificate', and APNs answers nobody without", at: section.position,
            remedy: "Add, for example: key: {file: keys/AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ}.")
    }

    /// Where to find things in the exports.
    func columns() -> ExportColumns {
        var columns = ExportColumns()
        guard let names = subsection("columns", ProjectKeys.columns, example: "columns: {token: device_token}") else { return columns }
        for standard in ExportColumns.Standard.allCases {
            let key = standard.rawValue
            if standard == .tags, case .mapping? = names.node(key)?.content {
                readTags(names, into: &columns)
            } else if let name = names.text(key, example: "\(key): \(key)") {
                columns.names[standard] = name
            }
        }
        warnOfOneColumn(columns)
        if let rows = names.choice("rows", ExportColumns.Rows.allCases.map { ($0.rawValue, $0) }) { columns.rows = rows }
        return columns
    }

    /// What a device is called, whose it is, what it speaks and where it is stand in columns of their own.
    private func warnOfOneColumn(_ columns: ExportColumns) {
        let kinds: [ExportColumns.Standard] = [.registrationID, .alias, .tags, .language, .timezone]
        for (number, kind) in kinds.enumerated() {
            guard let name = columns.names[kind], let other = kinds[..<number].first(where: { columns.names[$0]?.value == name.value })
            else {
                continue
            }
            findings.warning(
                .columnTwice, "'\(other.rawValue)' and '\(kind.rawValue)' are read from one column, \(quoted(name.value))",
                at: name.position,
                remedy: "Name the column of each.")
        }
    }

    private func readTags(_ names: Section, into columns: inout ExportColumns) {
        let example = "tags: {column: tags, separator: \";\"}"
        guard let node = names.node("tags"),
            let tags = Section(node, ProjectKeys.tags, of: ProjectKeys.file, example: example, findings: findings)
        else { return }
        columns.names[.tags] = tags.text("column", example: "column: tags")
        guard let separator = tags.node("separator") else { return }
        guard let text = separator.text, text.value.unicodeScalars.count == 1, !separator.isNull, text.value != "\"", text.value != "\n"
        else {
            tags.wrongKind("'separator'", separator, must: "a single character such as ; or |", example: "separator: \";\"")
            return
        }
        columns.tagSeparator = text.value
    }
}

/// The rules for the address of another server.
enum ServerURL {
    /// Accepts `https://host` and `https://host:port`.
    static func check(_ url: String) throws(Complaint) {
        let example = "For example: url: \"https://localhost:2197\"."
        guard url.lowercased().hasPrefix("https://") else {
            throw Complaint("the address \(quoted(url)) must begin with https://", remedy: example)
        }
        let authority = url.dropFirst("https://".count)
        guard !authority.contains("/"), !authority.contains("?"), !authority.contains("#") else {
            throw Complaint("the address \(quoted(url)) must end after the host and port", remedy: "Remove the path. \(example)")
        }
        let parts = HostPort(authority), host = parts.host
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ":") }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]") && host.allSatisfy { $0.isHexDigit || "[]:.".contains($0) }
        guard isHost || isAddress else { throw Complaint("the address \(quoted(url)) names no host", remedy: example) }
        guard parts.portText == nil || parts.port != nil else {
            throw Complaint("the port of \(quoted(url)) must be a number from 1 to 65535", remedy: example)
        }
    }
}
