import Base
import PushServices

extension Section {
    /// Paths or globs: a text, or a list of texts; empty when absent, or reported.
    /// - Parameter entry: what an entry is: `a file`.
    func paths(_ key: String, example: String, entry: String = "a file") -> [SourceText] {
        guard let node = node(key) else { return [] }
        guard case .sequence(let items) = node.content else {
            return text(node, subject: "'\(key)'", example: example).map { [$0] } ?? []
        }
        if items.isEmpty {
            findings.error("'\(key)' is an empty list", at: node.position, remedy: "Name \(entry), or remove the key.")
        }
        return items.compactMap { text($0, subject: "an entry of '\(key)'", example: example) }
    }

    /// Names such as tags: one, a list, or `{file: names.txt}`; empty when absent, or reported.
    func names(_ key: String) -> NameList {
        guard let node = node(key) else { return NameList() }
        return names(node, key: key)
    }

    /// The names of a node.
    func names(_ node: YAMLNode, key: String) -> NameList {
        var list = NameList()
        let example = "\(key): [one, two]"
        switch node.content {
        case .sequence(let items):
            list.names = items.compactMap { text($0, subject: "an entry of '\(key)'", example: example) }
            list.names.forEach { checkEntry($0, key: key) }
        case .mapping: list.file = namesFile(node, key: key)
        case .scalar, .unreadable:
            guard let name = text(node, subject: "'\(key)'", example: example) else { break }
            checkSingle(name, key: key)
            list.names = [name]
        }
        return list
    }

    /// `tags: discount, daily` is a single name for YAML; under 'exclude' it would exclude no
    /// device.
    private func checkSingle(_ name: SourceText, key: String) {
        guard name.style == .plain else { return checkEntry(name, key: key) }
        func complain(_ parts: [some StringProtocol], otherwise: String) {
            let names = parts.prefix(3).map { shown($0.trimmingSpaces(), key) }
            // Ids are digits and letters, some of them shortened.
            let shownNames = key == "registration_ids" ? names : names.map { TextFormat.yaml($0) }
            let list = shownNames.joined(separator: ", ") + (parts.count > 3 ? ", …" : "")
            findings.error(
                "\(shown(name, key)) is read as a single name", at: name.position,
                remedy: "For several names write \(key): [\(list)]\(otherwise).")
        }
        let lines = lines(of: name)
        if let comma = name.value.first(where: { ",，、;；".contains($0) }) {
            let mark = comma == "," ? "a comma" : "a '\(comma)'"
            complain(
                Self.withoutBrackets(name.value).split { ",，、;；".contains($0) }.filter {
                    $0.contains { !$0.isWhitespace }
                },
                otherwise: "; put a name with \(mark) in quotes")
        } else if name.value.hasPrefix("-") {
            findings.error(
                "\(shown(name, key)) is read as a single name", at: name.position,
                remedy:
                    "In a list, put a space after each hyphen: - \(name.value.drop { $0 == "-" }.prefix { $0 != " " }); "
                    + "put a name that begins with a hyphen in quotes.")
        } else if lines > 1 || key == "registration_ids" && name.value.contains(" ") {
            complain(name.value.split(separator: " "), otherwise: lines > 1 ? "; put a name with spaces in quotes" : "")
        } else {
            checkEntry(name, key: key)
        }
    }

    /// The names between brackets of any kind, which in YAML make no list: `(news, vip)`.
    private static func withoutBrackets(_ text: String) -> Substring {
        let isPair = [("(", ")"), ("<", ">"), ("（", "）"), ("【", "】"), ("［", "］")].contains {
            text.hasPrefix($0) && text.hasSuffix($1)
        }
        return isPair ? text.dropFirst().dropLast() : text[...]
    }

    /// A name in quotes, as it may be shown.
    private func shown(_ name: SourceText, _ key: String) -> String { quoted(shown(name.value, key)) }

    /// A name as it may be shown: where a service chooses the devices, registration ids are
    /// targets.
    private func shown(_ name: String, _ key: String) -> String {
        guard has(OwnAudienceReader.key), let selector = AudienceCall.Selector(rawValue: key) else { return name }
        return selector == .registrationIDs ? selector.shown(name) : name
    }

    private func lines(of name: SourceText) -> Int { Set(name.parts.map(\.line)).count }

    /// Reports what an entry of a list cannot be.
    private func checkEntry(_ name: SourceText, key: String) {
        if let scalar = name.value.unicodeScalars.first(where: { Blank.isInvisible($0) && !$0.properties.isWhitespace })
        {
            findings.error(
                "\(shown(name, key)) holds an invisible character (\(TextFormat.codePoint(scalar)))",
                at: name.position,
                remedy: "Type the name again; such a character often comes with text copied from a chat or a web page.")
            return
        }
        if key != "tags", let mistake = RoundedNumber.mistake(about: name.value, shown: shown(name, key)) {
            findings.error(mistake, at: name.position)
            return
        }
        if key != "tags", let doubt = RoundedNumber.doubt(about: name.value, shown: shown(name, key)) {
            findings.warning(.roundedNumber, message: doubt.message, at: name.position, remedy: doubt.remedy)
        }
        if let negated = Self.negated(name.value), group.name != "exclude", key != "none" {
            findings.error(
                "\(shown(name, key)) is read as a name, and leaves no device out", at: name.position,
                remedy:
                    "For devices without it, write under 'audience': exclude: {\(Self.selector(key)): [\(TextFormat.yaml(negated))]}."
            )
            return
        }
        if name.style == .plain, lines(of: name) > 1 {
            findings.error(
                "\(shown(name, key)) is read as a single name, because its lines are indented like parts of one",
                at: name.position,
                remedy: "Indent all entries of a list alike; put a name with spaces in quotes.")
            return
        }
        if name.style == .plain, let mark = name.value.first(where: { ",，、;；".contains($0) }) {
            let rest = name.value.split { ",，、;；".contains($0) }
            findings.error(
                rest.count == 1
                    ? "\(shown(name, key)) is read with its '\(mark)'"
                    : "\(shown(name, key)) is read as a single name, because '\(mark)' separates nothing \(mark == "," ? "after a hyphen" : "in YAML")",
                at: name.position,
                remedy: (rest.count == 1
                    ? "Leave it out"
                    : mark == ","
                        ? "Write each name on its own line after a hyphen" : "Write ',' and a space between names")
                    + "; put a name with a '\(mark)' in quotes.")
        } else if key == "registration_ids", name.value.trimmingSpaces().contains(" ") {
            findings.error(
                "\(shown(name, key)) is not a registration id, because it holds a space", at: name.position,
                remedy: "Separate ids with commas, or write each on its own line after a hyphen.")
        }
    }

    /// `vip` for `!vip`, `!= vip`, `<> vip` and `not vip`.
    private static func negated(_ name: String) -> String? {
        let signs = name.prefix { "!=<>≠ ".contains($0) }
        let isNegation = signs.hasPrefix("!") || signs.hasPrefix("≠") || signs.hasPrefix("<>")
        let rest =
            isNegation ? name.dropFirst(signs.count) : name.lowercased().hasPrefix("not ") ? name.dropFirst(4) : ""
        let trimmed = rest.trimmingSpaces()
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The key below `exclude` for names of a list.
    private static func selector(_ key: String) -> String {
        ["aliases", "registration_ids"].contains(key) ? key : "tags"
    }

    private func namesFile(_ node: YAMLNode, key: String) -> SourceText? {
        let keys = FileKeys(groups: [KeyGroup(key, valid: ["file"])])
        guard
            let section = Section(
                node, keys.groups[0], of: keys, example: "\(key): {file: names.txt}", findings: findings)
        else {
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
                remedy: "Keep the \(secret) itself out of this file; write, for example: \(key): \(example).")
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

/// Numbers as a spreadsheet program shows long ones, `1.23E+15`: the missing digits are what told
/// people apart.
enum RoundedNumber {
    /// What to say about a name or value that is a rounded number; nil for others.
    /// - Parameter shown: what may be shown of it; nil for all.
    static func mistake(about text: String, shown: String? = nil) -> Mistake? {
        guard TextFormat.isRounded(text) else { return nil }
        return Mistake(
            "\(shown ?? quoted(text)) is a number that a spreadsheet program has rounded: it could be any of many numbers",
            remedy: "Write all of its digits; format the column as text before you open the export there.")
    }

    /// This many zeros or more are not a coincidence.
    private static let suspiciousZeros = 3

    /// What is odd about a name or value that ends in zeros where a spreadsheet program keeps no
    /// digits; nil for others.
    /// - Parameter shown: what may be shown of it; nil for all.
    static func doubt(about text: String, shown: String? = nil) -> Mistake? {
        guard let zeros = TextFormat.zerosOfRounding(text), zeros >= suspiciousZeros else { return nil }
        return Mistake(
            "\(shown ?? quoted(text)) seems to be rounded: a spreadsheet program keeps only \(TextFormat.keptDigits) digits of a number",
            remedy: "Compare it with its source; format the column as text before you open it in a spreadsheet program."
        )
    }
}
