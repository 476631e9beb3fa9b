import Base

/// A line that was meant as `key: value`, but that YAML does not read as one because its colon is
/// not as YAML needs it.
struct KeyTypo {
    /// Where the key begins, counted from 1.
    let column: Int
    let mistake: Mistake

    /// Looks at a line: `title:Hello`, `title：你好`.
    init?(_ line: [Unicode.Scalar]) {
        let indentation = line.prefix { $0 == " " }.count
        let isEntry = line.dropFirst(indentation).starts(with: "- ".unicodeScalars)
        let start = indentation + (isEntry ? 2 : 0)
        let name = line[start...].prefix {
            $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9").contains($0))
        }
        guard !name.isEmpty, name.endIndex < line.endIndex else { return nil }
        let rest = line[(name.endIndex + 1)...]
        let key = String(String.UnicodeScalarView(name))
        let value = String(String.UnicodeScalarView(rest)).trimmingSpaces()
        // After a blank, # would begin a comment.
        let needsQuotes = value.hasPrefix("#") && !value.contains("\"")
        let repaired = Self.shortened("\(key): \(needsQuotes ? "\"\(value)\"" : value)")
        let remedy = Self.isOfProject(key) ? "Write it as 'name: value'." : "Write \(repaired)"
        switch line[name.endIndex] {
        // An address such as https://example.com is not a key.
        case ":"
        where rest.first != nil && rest.first != " " && rest.first != "\t" && !rest.starts(with: "//".unicodeScalars):
            mistake = Mistake("a space is missing after the ':' of '\(key)'", remedy: remedy)
        case "：", "﹕":
            mistake = Mistake(
                "the colon after '\(key)' is a full-width one (\(String(line[name.endIndex])))", remedy: remedy)
        default: return nil
        }
        column = start + 1
    }

    /// Whether only volley.yaml has the key: what follows it may be a secret.
    private static func isOfProject(_ key: String) -> Bool {
        ProviderReader.keys.groups.contains { $0.holds(key) } && !CampaignKeys.file.groups.contains { $0.holds(key) }
    }

    private static func shortened(_ line: String) -> String {
        let shown = quoted(line).dropFirst().dropLast()
        return shown.hasSuffix(".") || shown.hasSuffix("…") ? String(shown) : shown + "."
    }
}

/// Characters that look like spaces, but are not spaces to YAML. Word processors, chats and web
/// pages put them at the beginning of a line or after a colon; inside a text they do no harm.
enum SpaceLookalikes {
    /// The first slip that breaks YAML; nil when no slip does.
    static func mistake(in source: YAMLSource) -> Diagnostic? {
        var first: (place: SourcePosition, scalar: Unicode.Scalar, isIndentation: Bool)?
        var lines = 0
        for number in 1...source.lineCount {
            let line = source.line(number)
            guard let index = index(in: line) else { continue }
            lines += 1
            guard first == nil else { continue }
            let isIndentation = line[..<index].allSatisfy { $0 == " " || $0 == "-" }
            first = (SourcePosition(file: source.file, line: number, column: index + 1), line[index], isIndentation)
        }
        guard let first else { return nil }
        let others = lines == 1 ? "" : ", as in \(lines - 1) more \(lines == 2 ? "line" : "lines")"
        return Diagnostic(
            "there is a \(name(of: first.scalar)) \(first.isIndentation ? "at the beginning of this line" : "after the colon")\(others); "
                + "it looks like a space, but is not one in YAML",
            at: first.place,
            remedy:
                "Replace it with a space that you type yourself; it often comes with text copied from a word processor or a web page."
        )
    }

    /// Where a line has one before its key or its list entry, or right after the colon of its key.
    private static func index(in line: [Unicode.Scalar]) -> Int? {
        let start = line.prefix { $0 == " " || isFalse($0) || $0 == "-" }.count
        if start < line.count, let index = line[..<start].firstIndex(where: isFalse) { return index }
        let name = line[start...].prefix { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-") }
        guard !name.isEmpty, name.endIndex + 1 < line.count, line[name.endIndex] == ":",
            isFalse(line[name.endIndex + 1])
        else {
            return nil
        }
        return name.endIndex + 1
    }

    private static func isFalse(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0x1680, 0x2000...0x200F, 0x202F, 0x205F, 0x2060, 0x3000: true
        default: false
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0xA0, 0x202F: "non-breaking space"
        case 0x3000: "full-width space"
        case 0x200B...0x200F, 0x2060: "character without width"
        default: "special space"
        }
    }
}

extension Findings {
    /// Where something that looks like a space broke the file, reports that instead of the mistakes
    /// that follow from it.
    func preferFalseSpaces(in source: YAMLSource) {
        guard hasErrors, let mistake = SpaceLookalikes.mistake(in: source), let line = mistake.position?.line else {
            return
        }
        // A key with a group that is not seen as such is called empty, in the line before.
        replaceErrors(from: line - 1, by: mistake)
    }
}
