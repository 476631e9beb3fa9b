import Base

/// Translates libyaml's errors for people that write campaigns, and adds what to do. libyaml names
/// the place where it gave up; the mistake itself is often earlier (a quote that was never closed),
/// and that is the place reported.
struct YAMLSyntaxTranslator {
    let problem: YAMLSyntaxProblem
    let source: YAMLSource
    /// The last event before the problem.
    let previous: YAMLEvent?
    /// The line of the problem.
    private let line: [Unicode.Scalar]

    init(problem: YAMLSyntaxProblem, source: YAMLSource, previous: YAMLEvent?) {
        self.problem = problem
        self.source = source
        self.previous = previous
        line = source.line(problem.position.line)
    }

    /// The mistake, at the place where a person would repair it.
    func diagnostic() -> Diagnostic {
        tabInIndentation() ?? unclosedQuote() ?? wordBeforeNeedsQuotes() ?? textAfterQuote() ?? curlyQuotes()
            ?? structure() ?? other()
    }

    /// The character at which libyaml stopped, if the line has one there.
    private var character: Unicode.Scalar? {
        let index = problem.position.column - 1
        return line.indices.contains(index) ? line[index] : nil
    }

    /// Where the construct began that could not be finished.
    private var beginning: SourcePosition { problem.contextPosition ?? problem.position }

    /// How many spaces the line begins with.
    private var indentation: Int { line.prefix { $0 == " " }.count }

    private func place(column: Int) -> SourcePosition {
        SourcePosition(file: source.file, line: problem.position.line, column: column)
    }

    private func tabInIndentation() -> Diagnostic? {
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        let isTab = problem.message.contains("found a tab character")
        guard let tab = indentation.firstIndex(of: "\t") ?? (isTab ? problem.position.column - 1 : nil) else {
            return nil
        }
        return Diagnostic(
            "there is a tab where YAML needs spaces", at: place(column: tab + 1),
            remedy: "Replace every tab at the beginning of a line with two spaces.")
    }

    private func unclosedQuote() -> Diagnostic? {
        guard problem.context == "while scanning a quoted scalar", problem.message.hasPrefix("found unexpected") else {
            return nil
        }
        return Diagnostic(
            "the quote that opens here is never closed", at: beginning,
            remedy: "Put the same quote at the end of the text.")
    }

    /// Characters that a text cannot begin with unless it is in quotes.
    private func wordBeforeNeedsQuotes() -> Diagnostic? {
        let needsQuotes = "Put the whole text in quotes."
        if problem.message == "found character that cannot start any token" {
            if line.drop(while: { $0 == " " }).starts(with: "```".unicodeScalars) {
                return Diagnostic(
                    "``` is how chats mark a piece of code; it is not YAML", at: problem.position,
                    remedy: "Remove the lines with ```.")
            }
            let column = problem.position.column
            if character == "%", column >= 2, line[column - 2] == "{" {
                return Diagnostic(
                    "YAML reads a text that begins with {% as a group of keys", at: place(column: column - 1),
                    remedy: needsQuotes)
            }
            return Diagnostic(
                "a text cannot begin with \(quoted(character.map(String.init) ?? "")) here", at: problem.position,
                remedy: needsQuotes)
        }
        switch problem.context {
        case "while scanning a block scalar" where problem.message == "did not find expected comment or line break":
            return Diagnostic(
                "a text cannot begin with > or | here", at: beginning,
                remedy: "Put it in quotes, comparisons too, for example: app_version: \">= 3.2.0\".")
        case "while scanning an anchor", "while scanning an alias":
            return Diagnostic("a text cannot begin with & or * without quotes", at: beginning, remedy: needsQuotes)
        case "while scanning a tag", "while parsing a tag", "while parsing a node":
            return Diagnostic(
                "a text cannot begin with ! without quotes", at: beginning,
                remedy: "Put it in quotes, comparisons too, for example: app_version: \"!= 3.2.0\".")
        default: return nil
        }
    }

    /// The text before was in quotes that ended too early or too late.
    private func textAfterQuote() -> Diagnostic? {
        guard case .scalar(_, let style, _) = previous?.kind, let previous,
            style == .singleQuoted || style == .doubleQuoted
        else {
            return nil
        }
        guard previous.end.line == problem.position.line, previous.end.column <= problem.position.column else {
            return nil
        }
        if previous.start.line < previous.end.line {
            return Diagnostic(
                "the quote that opens here ends only in line \(previous.end.line), and more text follows it",
                at: previous.start,
                remedy: "Close the quote at the end of its own text.")
        }
        guard problem.message == "did not find expected key" else { return nil }
        let inside =
            style == .singleQuoted
            ? "write an apostrophe inside single quotes twice ('')" : "write a quote inside the text as \\\""
        return Diagnostic(
            "more text follows the closing quote", at: previous.end,
            remedy: "Put the whole text between one pair of quotes, and \(inside)."
        )
    }

    /// To YAML, “text” in curly quotes is not quoted at all, so a colon in it is a mistake.
    private func curlyQuotes() -> Diagnostic? {
        guard let index = line.firstIndex(where: { "“”„‟".unicodeScalars.contains($0) }) else { return nil }
        let before = line[..<index].last { $0 != " " }
        guard before == ":" || before == "-" || before == "," || before == "[" || before == "{" else { return nil }
        return Diagnostic(
            "curly quotes do not quote a text in YAML", at: place(column: index + 1),
            remedy: "Replace them with straight quotes: \" \".")
    }

    private func structure() -> Diagnostic? {
        switch problem.message {
        case "mapping values are not allowed in this context": return unexpectedColon()
        case "could not find expected ':'": return missingColon()
        case "did not find expected key", "did not find expected '-' indicator":
            if character == ":" { return missingKey() }
            if problem.position.column > indentation + 1 {
                return Diagnostic(
                    "more text follows a value that has ended", at: problem.position,
                    remedy: "Put the whole text in quotes, or remove the rest.")
            }
            return Diagnostic(
                "this line begins at a column where nothing above it began", at: problem.position,
                remedy: "Indent it exactly as the other keys or entries of its group, with spaces.")
        case "found unexpected ':'":
            return Diagnostic(
                "a space is missing after the ':'", at: problem.position,
                remedy: "Write it as 'name: value'; if the ':' belongs to a text, put the whole text in quotes.")
        case "did not find expected ',' or ']'": return unclosedBracket("list", bracket: "]")
        case "did not find expected ',' or '}'": return unclosedBracket("group", bracket: "}")
        case "block sequence entries are not allowed in this context":
            return Diagnostic(
                "a list entry '- ' is not allowed here", at: problem.position,
                remedy:
                    "Put every entry on a line of its own below the key, or write [one, two]; a text that begins with '- ' needs quotes."
            )
        case "mapping keys are not allowed in this context":
            return Diagnostic(
                "a text cannot begin with '? ' here", at: problem.position, remedy: "Put the whole text in quotes.")
        case "did not find expected node content":
            return Diagnostic(
                "a value is missing here", at: problem.position,
                remedy: "Write a value, or remove the comma or bracket.")
        default: return nil
        }
    }

    private func unexpectedColon() -> Diagnostic {
        if let accident = keyAccident() { return accident }
        let before = String(String.UnicodeScalarView(line.prefix(max(0, problem.position.column - 1))))
        if before.contains(": ") {
            return Diagnostic(
                "a text with ': ' in it needs quotes", at: problem.position,
                remedy: "Put the whole text after the first ':' in quotes.")
        }
        if before.allSatisfy({ $0 == " " }) { return missingKey() }
        if let comment = (1...problem.position.line).first(where: {
            source.line($0).drop { $0 == " " }.starts(with: "//".unicodeScalars)
        }) {
            return Diagnostic(
                "// does not begin a comment", at: SourcePosition(file: source.file, line: comment, column: 1),
                remedy: "Write # instead of //.")
        }
        return Diagnostic(
            "this line is indented below a line that already has a value", at: place(column: indentation + 1),
            remedy: "Give it the same indentation as the line above it, or put a text of several lines in quotes.")
    }

    /// YAML takes `title:Hello` for a text that continues in the next line; only the colon there
    /// stops it.
    private func keyAccident() -> Diagnostic? {
        let above = stride(from: problem.position.line - 1, to: 0, by: -1).first {
            source.line($0).contains { $0 != " " }
        }
        for number in [problem.position.line, above].compactMap(\.self) {
            guard let accident = KeyTypo(source.line(number)) else { continue }
            return Diagnostic(
                accident.mistake.message, at: SourcePosition(file: source.file, line: number, column: accident.column),
                remedy: accident.mistake.remedy)
        }
        return nil
    }

    private func missingKey() -> Diagnostic {
        Diagnostic("a key is missing before the ':'", at: problem.position, remedy: "Write it as 'name: value'.")
    }

    private func missingColon() -> Diagnostic {
        let line = source.line(beginning.line)
        if let accident = KeyTypo(line) {
            return Diagnostic(accident.mistake.message, at: beginning, remedy: accident.mistake.remedy)
        }
        let rest = String(String.UnicodeScalarView(line.dropFirst(beginning.column - 1)))
        if rest.contains(":") {
            return Diagnostic("a space is missing after the ':'", at: beginning, remedy: "Write it as 'name: value'.")
        }
        return Diagnostic(
            "this line is not 'key: value'", at: beginning,
            remedy:
                "Put a ':' and a space after the key; if it continues the text above, indent it or put the whole text in quotes."
        )
    }

    private func unclosedBracket(_ kind: String, bracket: String) -> Diagnostic {
        Diagnostic(
            "the \(kind) that opens here lacks a ',' or its closing '\(bracket)' before line \(problem.position.line), "
                + "column \(problem.position.column)",
            at: beginning,
            remedy:
                "Put a comma between any two entries, '\(bracket)' at the end, and quotes around a text with braces, quotes or a comma in it."
        )
    }

    private func other() -> Diagnostic {
        if problem.message.contains("escape") || problem.message.contains("hexdecimal") {
            return Diagnostic(
                "a backslash between double quotes begins an escape, but YAML does not know this one",
                at: problem.position,
                remedy: "Write \\\\ for a backslash, and characters such as emoji as they are.")
        }
        if problem.context.contains("directive") || problem.message.contains("document start")
            || problem.message.contains("YAML document")
        {
            return Diagnostic(
                "this line is outside of what the file began with", at: problem.position,
                remedy: "A campaign is a list of 'key: value' lines; lines with '%', '---' or '...' can be removed.")
        }
        return Diagnostic(
            "this is not valid YAML (\(problem.message))", at: problem.position,
            remedy: "Check quotes, colons and the indentation in this line and the one above.")
    }
}
