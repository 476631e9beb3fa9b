import Base

/// Finds where the characters of a scalar are in the file by comparing its value with the lines it
/// was read from: libyaml gives only the beginning, but mistakes inside a text (templates) should
/// be shown where they are.
struct ScalarPlaces {
    private let source: YAMLSource
    private let value: [Unicode.Scalar]
    private var index = 0
    private var offset = 0
    private var line: Int
    private var column: Int
    private var text: [Unicode.Scalar]
    private var parts: [SourceText.Part] = []

    /// The parts of a scalar; none when a place in it is found by counting characters, or when
    /// value and lines do not agree.
    /// - Parameter start: the quote, the sign of a block, or the first character.
    static func parts(of value: String, _ style: SourceText.Style, at start: SourcePosition, in source: YAMLSource)
        -> [SourceText.Part]
    {
        // Anything longer is not a push's text, and no one needs a place in it.
        guard value.utf8.count <= 20_000 else { return [] }
        var places = ScalarPlaces(value, start, source)
        let isFound =
            switch style {
            case .plain: places.followFlow(quote: nil)
            case .singleQuoted: places.followFlow(quote: "'")
            case .doubleQuoted: places.followFlow(quote: "\"")
            case .literal: places.followLiteral()
            case .folded: places.followFolded()
            }
        let isSimple = places.parts.count < 2 && style != .literal && style != .folded
        return isFound && !isSimple ? places.parts : []
    }

    private init(_ value: String, _ start: SourcePosition, _ source: YAMLSource) {
        self.source = source
        self.value = Array(value.unicodeScalars)
        (line, column) = (start.line, start.column)
        text = source.line(start.line)
    }

    private mutating func beginPart() {
        if parts.last?.offset == offset { parts.removeLast() }
        parts.append(.init(offset: offset, line: line, column: column))
    }

    private mutating func take() {
        offset += UTF8.width(value[index])
        index += 1
    }

    private mutating func nextLine() {
        line += 1
        column = 1
        text = source.line(line)
    }

    // MARK: - Blocks

    /// A line of a literal block ends with the value's line, after the indentation.
    private mutating func followLiteral() -> Bool {
        while index < value.count {
            nextLine()
            let content = value[index...].prefix { $0 != "\n" }
            guard text.count >= content.count, text.suffix(content.count).elementsEqual(content) else { return false }
            column = text.count - content.count + 1
            beginPart()
            for _ in content { take() }
            if index < value.count { take() }
        }
        return true
    }

    /// A folded block: between two lines of the file the value has one space or any number of line
    /// ends.
    private mutating func followFolded() -> Bool {
        let last = value.lastIndex { $0 != "\n" } ?? -1
        var indentation: Int?
        while index <= last {
            guard hasLine(after: line) else { return false }
            nextLine()
            let blanks = text.prefix { $0 == " " }.count
            guard blanks < text.count else { continue }
            let indent = indentation ?? blanks - leadingBlanks
            indentation = indent
            guard indent >= 0, blanks >= indent else { return false }
            let content = text[indent...]
            while index <= last, !value[index...].starts(with: content), value[index] == " " || value[index] == "\n" {
                take()
            }
            guard value[index...].starts(with: content) else { return false }
            column = indent + 1
            beginPart()
            for _ in content { take() }
        }
        return true
    }

    /// Spaces at the beginning of the value's first line that is not blank: a block may state its
    /// indentation and keep further spaces.
    private var leadingBlanks: Int {
        value.drop { $0 == "\n" }.prefix { $0 == " " }.count
    }

    private func hasLine(after number: Int) -> Bool { number < source.place(line: .max, column: 1).line }

    // MARK: - Plain and quoted

    private mutating func followFlow(quote: Unicode.Scalar?) -> Bool {
        if quote != nil { column += 1 }
        beginPart()
        while index < value.count {
            let place = column - 1
            let blanks = place < text.count ? text[place...].prefix { $0 == " " || $0 == "\t" }.count : 0
            if place + blanks >= text.count {
                guard fold() else { return false }
            } else if quote == "\"", text[place] == "\\" {
                guard escape() else { return false }
            } else {
                guard value[index] == text[place] else { return false }
                let isDoubled = quote == "'" && text[place] == "'"
                take()
                column += isDoubled ? 2 : 1
                if isDoubled { beginPart() }
            }
        }
        return true
    }

    /// One line end becomes a space, and each further one stays.
    private mutating func fold() -> Bool {
        var ends = 0
        repeat {
            guard hasLine(after: line) else { return false }
            nextLine()
            ends += 1
            column = text.prefix { $0 == " " || $0 == "\t" }.count + 1
        } while column > text.count
        for _ in 0..<max(1, ends - 1) {
            guard index < value.count, value[index] == (ends == 1 ? " " : "\n") else { return false }
            take()
        }
        beginPart()
        return true
    }

    private mutating func escape() -> Bool {
        guard column < text.count else {
            // A backslash at the end of a line joins it with the next; empty lines between them
            // stay.
            guard hasLine(after: line) else { return false }
            nextLine()
            column = text.prefix { $0 == " " || $0 == "\t" }.count + 1
            while column > text.count {
                guard hasLine(after: line), index < value.count, value[index] == "\n" else { return false }
                take()
                nextLine()
                column = text.prefix { $0 == " " || $0 == "\t" }.count + 1
            }
            beginPart()
            return true
        }
        take()
        column += ["x": 4, "u": 6, "U": 10][text[column]] ?? 2
        beginPart()
        return true
    }
}
