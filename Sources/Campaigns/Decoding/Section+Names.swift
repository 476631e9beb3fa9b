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
        case .sequence(let items):
            list.names = items.compactMap { text($0, "an entry of '\(key)'", example: example) }
            list.names.forEach { checkEntry($0, key) }
        case .mapping: list.file = namesFile(node, key)
        case .scalar, .unreadable:
            guard let name = text(node, "'\(key)'", example: example) else { break }
            checkSingle(name, key)
            list.names = [name]
        }
        return list
    }

    /// `tags: discount, daily` is a single name for YAML; below 'exclude' it would exclude nobody.
    private func checkSingle(_ name: SourceText, _ key: String) {
        guard name.style == .plain else { return checkEntry(name, key) }
        func complain(_ parts: [some StringProtocol], _ otherwise: String) {
            let shown = parts.prefix(3).map { $0.trimmingSpaces() }.joined(separator: ", ") + (parts.count > 3 ? ", …" : "")
            findings.error(
                "\(quoted(name.value)) is read as a single name", at: name.position,
                remedy: "For several names write \(key): [\(shown)]\(otherwise).")
        }
        let lines = lines(of: name)
        if let comma = name.value.first(where: { ",，、;；".contains($0) }) {
            let mark = comma == "," ? "a comma" : "a '\(comma)'"
            complain(
                name.value.split { ",，、;；".contains($0) }.filter { $0.contains { !$0.isWhitespace } },
                "; for a name with \(mark) put it in quotes")
        } else if name.value.hasPrefix("-") {
            findings.error(
                "\(quoted(name.value)) is read as a single name", at: name.position,
                remedy: "In a list a space follows each hyphen: - \(name.value.drop { $0 == "-" }.prefix { $0 != " " }); "
                    + "for a name that begins with a hyphen put it in quotes.")
        } else if lines > 1 || key == "registration_ids" && name.value.contains(" ") {
            complain(name.value.split(separator: " "), lines > 1 ? "; for a name with spaces put it in quotes" : "")
        } else {
            checkEntry(name, key)
        }
    }

    private func lines(of name: SourceText) -> Int { Set(name.parts.map(\.line)).count }

    /// What a single entry of a list cannot be.
    private func checkEntry(_ name: SourceText, _ key: String) {
        if let scalar = name.value.unicodeScalars.first(where: { Blank.isInvisible($0) && !$0.properties.isWhitespace }) {
            findings.error(
                "\(quoted(name.value)) holds a character that nobody sees (\(TextFormat.codePoint(scalar)))",
                at: name.position, remedy: "Type the name anew; it often comes with text copied from a chat or a web page.")
            return
        }
        if key != "tags", let complaint = RoundedNumber.complaint(about: name.value) {
            findings.error(complaint, at: name.position)
            return
        }
        if key != "tags", let doubt = RoundedNumber.doubt(about: name.value) {
            findings.warning(.roundedNumber, doubt.message, at: name.position, remedy: doubt.remedy)
        }
        if let negated = Self.negated(name.value), group.name != "exclude", key != "none" {
            findings.error(
                "\(quoted(name.value)) is read as a name, and leaves nobody out", at: name.position,
                remedy: "For devices without it write, below 'audience', exclude: {\(Self.selector(key)): [\(negated)]}.")
            return
        }
        if name.style == .plain, lines(of: name) > 1 {
            findings.error(
                "\(quoted(name.value)) is read as a single name, as its lines are indented like parts of one", at: name.position,
                remedy: "Indent all entries of a list alike; for a name with spaces put it in quotes.")
            return
        }
        if name.style == .plain, let comma = name.value.first(where: { "，、".contains($0) }) {
            findings.error(
                "\(quoted(name.value)) is read as a single name, as '\(comma)' separates nothing for YAML", at: name.position,
                remedy: "Write ',' and a space between names; for a name with a '\(comma)' put it in quotes.")
        } else if key == "registration_ids", name.value.trimmingSpaces().contains(" ") {
            findings.error(
                "\(quoted(name.value)) is no registration id, as it holds a space", at: name.position,
                remedy: "Separate ids by commas, or write each behind a hyphen of its own.")
        }
    }

    /// `vip` for `!vip`, `!= vip`, `<> vip` and `not vip`.
    private static func negated(_ name: String) -> String? {
        let signs = name.prefix { "!=<>≠ ".contains($0) }
        let isNegation = signs.hasPrefix("!") || signs.hasPrefix("≠") || signs.hasPrefix("<>")
        let rest = isNegation ? name.dropFirst(signs.count) : name.lowercased().hasPrefix("not ") ? name.dropFirst(4) : ""
        let trimmed = rest.trimmingSpaces()
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The key below `exclude` for names of a list.
    private static func selector(_ key: String) -> String { ["aliases", "registration_ids"].contains(key) ? key : "tags" }

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
