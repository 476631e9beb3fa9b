import Base

/// Text in the Markdown of docs/console.md, for a page: headings with anchors, paragraphs, lists of
/// one level, tables and blocks of code; in them code, strong words, emphasis and links. Pictures
/// are left out, as the console does not serve them. Anything else stays as it is written, and all
/// of it is escaped.
enum Markdown {
    /// A part of a text.
    enum Block {
        case heading(level: Int, String)
        case paragraph(String)
        case list([String])
        /// The first row is the head.
        case table([[String]])
        case code(String)
    }

    /// The parts of a text, in sequence.
    static func blocks(_ text: String) -> [Block] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        func take(while belongs: (Substring) -> Bool) -> [Substring] {
            let taken = lines.prefix(while: belongs)
            lines = lines.dropFirst(taken.count)
            return Array(taken)
        }
        var blocks: [Block] = []
        while let line = lines.popFirst() {
            if Blank.isText(String(line)) || line.hasPrefix("![") { continue }
            if line.hasPrefix("```") {
                blocks.append(.code(take { !$0.hasPrefix("```") }.joined(separator: "\n")))
                lines = lines.dropFirst()
            } else if line.hasPrefix("#") {
                blocks.append(
                    .heading(level: line.prefix { $0 == "#" }.count, String(line.drop { $0 == "#" }).trimming))
            } else if line.hasPrefix("|") {
                let rows = [line] + take { $0.hasPrefix("|") }.dropFirst()
                blocks.append(.table(rows.map(cells)))
            } else if line.hasPrefix("- ") {
                var items = [sentence(line.dropFirst(2), take { $0.hasPrefix("  ") })]
                while let next = lines.first, next.hasPrefix("- ") {
                    lines = lines.dropFirst()
                    items.append(sentence(next.dropFirst(2), take { $0.hasPrefix("  ") }))
                }
                blocks.append(.list(items))
            } else {
                blocks.append(.paragraph(sentence(line, take { !Blank.isText(String($0)) && !begins($0) })))
            }
        }
        return blocks
    }

    /// Whether a line begins a part that is no paragraph.
    private static func begins(_ line: Substring) -> Bool {
        ["```", "#", "|", "- ", "!["].contains { line.hasPrefix($0) }
    }

    private static func sentence(_ first: Substring, _ others: [Substring]) -> String {
        ([first] + others).map { String($0).trimming }.joined(separator: " ")
    }

    private static func cells(_ row: Substring) -> [String] {
        row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { String($0).trimming }
    }

    // MARK: - As markup

    static func html(_ block: Block) -> HTML {
        switch block {
        case .heading(let level, let text):
            level < 3
                ? "<h2 id=\"\(anchor(text))\">\(words(text))</h2>" : "<h3 id=\"\(anchor(text))\">\(words(text))</h3>"
        case .paragraph(let text): "<p>\(words(text))</p>"
        case .list(let items): "<ul>\(items.map { "<li>\(words($0))</li>" as HTML })</ul>"
        case .table(let rows): table(rows)
        case .code(let text): "<pre class=\"plan\">\(text)</pre>"
        }
    }

    private static func table(_ rows: [[String]]) -> HTML {
        let names = rows.first ?? []
        let head: [HTML] = names.map { $0.isEmpty ? "<td></td>" : "<th scope=\"col\">\(words($0))</th>" }
        let body: [HTML] = rows.dropFirst().map { row in
            let cells: [HTML] = zip(names, row).enumerated().map { place, cell in
                place == 0
                    ? "<th scope=\"row\">\(words(cell.1))</th>" : "<td data-name=\"\(cell.0)\">\(words(cell.1))</td>"
            }
            return "<tr>\(cells)</tr>"
        }
        return "<table class=\"rows\"><thead><tr>\(head)</tr></thead><tbody>\(body)</tbody></table>"
    }

    /// A sentence. A link within the text is one; other documents are named, as the console shows
    /// none of them.
    static func words(_ text: String) -> HTML {
        var pieces: [HTML] = [], rest = text[...]
        /// What is between two marks, of which the first begins the rest; nil without them.
        func take(_ first: String, _ last: String) -> String? {
            guard rest.hasPrefix(first) else { return nil }
            let inner = rest.dropFirst(first.count)
            guard let end = inner.firstRange(of: last), end.lowerBound > inner.startIndex else { return nil }
            rest = inner[end.upperBound...]
            return String(inner[..<end.lowerBound])
        }
        while let place = rest.firstIndex(where: { $0 == "`" || $0 == "*" || $0 == "[" }) {
            pieces.append("\(String(rest[..<place]))")
            rest = rest[place...]
            let before = rest
            if let code = take("`", "`") {
                pieces.append("<code>\(code)</code>")
            } else if let strong = take("**", "**") {
                pieces.append("<b>\(words(strong))</b>")
            } else if let emphasis = take("*", "*") {
                pieces.append("<em>\(words(emphasis))</em>")
            } else if let name = take("[", "]("), !name.contains("]"), let target = take("", ")") {
                pieces.append(link(name, to: target))
            } else {
                rest = before.dropFirst()
                pieces.append("\(String(before.prefix(1)))")
            }
        }
        return HTML(joined: pieces + ["\(String(rest))"])
    }

    private static func link(_ name: String, to target: String) -> HTML {
        let file = String(target.prefix { $0 != "#" })
        return file.isEmpty
            ? "<a href=\"\(target)\">\(words(name))</a>" : "\(words(name)) <span class=\"note\">(docs/\(file))</span>"
    }

    /// As links to headings are written: `the-composer`.
    static func anchor(_ heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
    }
}
