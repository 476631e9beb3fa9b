import Base

extension Section {
    /// Paths or globs: a text, or a list of texts; empty when absent, or reported.
    func paths(_ key: String, example: String) -> [SourceText] {
        guard let node = node(key) else { return [] }
        guard case .sequence(let items) = node.content else { return text(node, "'\(key)'", example: example).map { [$0] } ?? [] }
        if items.isEmpty { findings.error("'\(key)' is an empty list", at: node.position, remedy: "Name a file, or remove the key.") }
        return items.compactMap { text($0, "an entry of '\(key)'", example: example) }
    }

    /// Names such as tags: one, a list, or `{file: names.txt}`; empty when absent, or reported.
    func names(_ key: String) -> NameList {
        guard let node = node(key) else { return NameList() }
        return names(node, key)
    }

    /// The names of a node.
    func names(_ node: YAMLNode, _ key: String) -> NameList {
        var list = NameList()
        let example = "\(key): [one, two]"
        switch node.content {
        case .sequence(let items): list.names = items.compactMap { text($0, "an entry of '\(key)'", example: example) }
        case .mapping: list.file = namesFile(node, key)
        case .scalar, .unreadable:
            guard let name = text(node, "'\(key)'", example: example) else { break }
            // `tags: discount, daily` is a single name for YAML; below 'exclude' it would exclude nobody.
            if name.style == .plain, name.value.contains(",") {
                let parts = name.value.split(separator: ",").map { $0.trimmingSpaces() }.joined(separator: ", ")
                findings.error(
                    "\(quoted(name.value)) is read as a single name", at: name.position,
                    remedy: "For several names write \(key): [\(parts)]; for a name with a comma put it in quotes.")
            }
            list.names = [name]
        }
        return list
    }

    private func namesFile(_ node: YAMLNode, _ key: String) -> SourceText? {
        let keys = FileKeys(groups: [KeyGroup(key, ["file"])])
        guard let section = Section(node, keys.groups[0], of: keys, example: "\(key): {file: names.txt}", findings: findings) else {
            return nil
        }
        return section.requiredText("file", example: "\(key): {file: names.txt}")
    }
}

extension Section {
    /// The name of an environment variable that holds a secret; reported when it cannot be one.
    /// - Parameters:
    ///   - secret: what the variable holds, for the remedy.
    ///   - example: a name for it.
    func variableName(_ key: String, of secret: String, example: String) -> SourceText? {
        guard let name = text(key, example: "\(key): \(example)") else { return nil }
        let isName = name.value.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_")
                || byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
        }
        if !isName || name.value.first?.isNumber == true {
            // It may be the secret itself, so it is not repeated.
            findings.error(
                "'\(key)' must be the name of an environment variable", at: name.position,
                remedy: "The \(secret) itself must not stand in this file; write, for example: \(key): \(example).")
        }
        return name
    }
}

extension StringProtocol {
    /// Without spaces and tabs at either end.
    func trimmingSpaces() -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = drop(while: isSpace)
        let end = start.reversed().drop(while: isSpace)
        return String(String(end).reversed())
    }
}
