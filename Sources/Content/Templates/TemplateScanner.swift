/// A piece of a text: plain words, or a tag.
struct TemplatePiece {
    enum Kind {
        case text
        /// Between `{{` and `}}`, without the signs for white space.
        case output
        /// Between `{%` and `%}`.
        case block
    }

    var kind: Kind
    /// The text, or a tag's inside: indices of scalars.
    var range: Range<Int>
    /// Where the tag begins.
    var start: Int
    /// `{{-` and `-}}`: white space next to the tag is removed.
    var trimsBefore = false, trimsAfter = false
}

/// Finds the tags of a text. Also handles `raw` and `comment`; their contents are not read.
///
/// Recognises what was meant as a tag but typed differently (`TemplateTypo`): sent as text, it
/// would reach phones.
struct TemplateScanner {
    private let scalars: [Unicode.Scalar]
    private let isShown: Bool
    private var index = 0
    private var textStart = 0
    private var pieces: [TemplatePiece] = []
    private var mistakes: [TemplateMistake] = []

    /// - Parameter isShown: whether people see the text, so that what merely looks like a tag is a
    ///   mistake, not the app's own notation.
    static func scan(_ scalars: [Unicode.Scalar], isShown: Bool) -> (
        pieces: [TemplatePiece], mistakes: [TemplateMistake]
    ) {
        var scanner = TemplateScanner(scalars: scalars, isShown: isShown)
        scanner.scan()
        return (scanner.pieces, scanner.mistakes)
    }

    private init(scalars: [Unicode.Scalar], isShown: Bool) { (self.scalars, self.isShown) = (scalars, isShown) }

    private mutating func scan() {
        while index < scalars.count, mistakes.count < TemplateParser.mostMistakes {
            if starts(with: "{{") {
                readOutput()
            } else if starts(with: "{%") {
                readBlock()
            } else if let accident = TemplateTypo.find(in: scalars, at: index, isShown: isShown) {
                mistakes.append(accident.mistake)
                index = accident.end
            } else {
                index += 1
            }
        }
        endText(at: scalars.count)
        trim()
    }

    private mutating func endText(at end: Int) {
        if textStart < end { pieces.append(TemplatePiece(kind: .text, range: textStart..<end, start: textStart)) }
    }

    /// - Parameter closing: scalars of the closing sign.
    private mutating func append(_ kind: TemplatePiece.Kind, inside: Range<Int>, closing: Int = 2) {
        var piece = TemplatePiece(kind: kind, range: inside, start: index)
        if piece.range.first.map({ scalars[$0] == "-" }) ?? false {
            piece.trimsBefore = true
            piece.range = piece.range.dropFirst()
        }
        if piece.range.last.map({ scalars[$0] == "-" }) ?? false {
            piece.trimsAfter = true
            piece.range = piece.range.dropLast()
        }
        endText(at: index)
        pieces.append(piece)
        index = inside.upperBound + closing
        textStart = index
    }

    /// Removes the white space next to tags with a hyphen.
    private mutating func trim() {
        for place in pieces.indices where pieces[place].kind == .text {
            var range = pieces[place].range
            if place > 0, pieces[place - 1].trimsAfter {
                while let first = range.first, TemplateTokenizer.isSpace(scalars[first]) { range = range.dropFirst() }
            }
            if place + 1 < pieces.count, pieces[place + 1].trimsBefore {
                while let last = range.last, TemplateTokenizer.isSpace(scalars[last]) { range = range.dropLast() }
            }
            pieces[place].range = range
        }
    }

    // MARK: - {{ }}

    private mutating func readOutput() {
        let inside = index + 2
        if starts(with: "{{{"), let end = find("}}", from: inside + 1), nextTag(from: inside + 1) > end {
            report("'{{{' has one brace too many", at: index, remedy: "Write '{{' and '}}'.")
            return append(.output, inside: (inside + 1)..<end, closing: starts(with: "}}}", at: end) ? 3 : 2)
        }
        if let end = closing("}}", from: inside) {
            let isLast =
                isShown && starts(with: "}", at: end + 2) && !starts(with: "}}", at: end + 2)
                && !scalars[inside..<end].contains("{")
            if isLast { report("'}}}' has one brace too many", at: end, remedy: "Write '}}'.") }
            return append(.output, inside: inside..<end, closing: isLast ? 3 : 2)
        }
        let limit = nextTag(from: inside)
        let wrong = [
            ("｝｝", "by full-width braces '｝｝'"), ("} }", "by '} }', with a space between the braces"),
            ("%}", "by '%}', which belongs to '{%'"),
            ("}", "by a single '}'"), ("))", "by '))'"), ("]]", "by ']]'"),
        ]
        for (closing, words) in wrong {
            guard let end = find(closing, from: inside), end < limit else { continue }
            report(
                "'{{' is closed \(words)", at: end,
                remedy: closing == "｝｝" ? "Write '}}' with plain braces." : "Write '}}'.")
            return append(.output, inside: inside..<end, closing: closing.unicodeScalars.count)
        }
        report("'{{' is never closed", at: index, remedy: "Write '}}' after the column's name.")
        index = inside
    }

    /// The place of a tag's end: the first one outside quotes or, if a quote is never closed, the
    /// first one. Nil if another tag begins before it. A quote that is not closed in this tag may
    /// find its end in the text behind it, so that the search runs into another tag.
    private func closing(_ end: String, from start: Int) -> Int? {
        var quote: Unicode.Scalar?
        var hasQuote = false
        for place in start..<max(start, scalars.count) {
            if let open = quote {
                if scalars[place] == open { quote = nil }
            } else if scalars[place] == "'" || scalars[place] == "\"" {
                quote = scalars[place]
                hasQuote = true
            } else if starts(with: end, at: place) {
                return place
            } else if starts(with: "{{", at: place) || starts(with: "{%", at: place) {
                break
            }
        }
        guard hasQuote, let place = find(end, from: start), nextTag(from: start) > place else { return nil }
        return place
    }

    private func nextTag(from start: Int) -> Int {
        min(find("{{", from: start) ?? scalars.count, find("{%", from: start) ?? scalars.count)
    }

    // MARK: - {% %}

    private mutating func readBlock() {
        let inside = index + 2
        guard let end = closing("%}", from: inside) else {
            let limit = nextTag(from: inside)
            if let end = find("}", from: inside), end < limit {
                let isDoubled = starts(with: "}}", at: end)
                report("'{%' is closed by '\(isDoubled ? "}}" : "}")'", at: end, remedy: "Write '%}'.")
                append(.block, inside: inside..<end, closing: isDoubled ? 2 : 1)
            } else {
                report("'{%' is never closed", at: index, remedy: "Write '%}' at its end.")
                index = inside
            }
            return
        }
        switch word(in: inside..<end) {
        case "raw": skip("endraw", from: inside, end: end, keepsText: true)
        case "comment": skip("endcomment", from: inside, end: end, keepsText: false)
        default: append(.block, inside: inside..<end)
        }
    }

    /// The word of a block that contains nothing else.
    private func word(in range: Range<Int>) -> String {
        String(String.UnicodeScalarView(scalars[range].filter { !TemplateTokenizer.isSpace($0) && $0 != "-" }))
    }

    private mutating func skip(_ last: String, from inside: Int, end: Int, keepsText: Bool) {
        var place = end + 2
        while let next = find("{%", from: place) {
            guard let close = find("%}", from: next + 2) else { break }
            if word(in: (next + 2)..<close) == last {
                // Both are tags that print nothing, like an empty comment.
                append(.block, inside: inside..<end)
                pieces[pieces.count - 1].range = inside..<inside
                if keepsText { endText(at: next) }
                index = next
                textStart = next
                append(.block, inside: (next + 2)..<close)
                pieces[pieces.count - 1].range = inside..<inside
                return
            }
            place = next + 2
        }
        report(
            "'{% \(last.dropFirst(3)) %}' has no '{% \(last) %}'", at: index,
            remedy: "Write '{% \(last) %}' where it ends.")
        endText(at: index)
        index = scalars.count
        textStart = index
    }

    // MARK: - Characters

    private func starts(with text: String, at place: Int? = nil) -> Bool {
        scalars[(place ?? index)...].starts(with: text.unicodeScalars)
    }

    private func find(_ text: String, from start: Int) -> Int? {
        (start..<max(start, scalars.count)).first { starts(with: text, at: $0) }
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        mistakes.append(TemplateMistake(message: message, index: index, remedy: remedy))
    }
}
