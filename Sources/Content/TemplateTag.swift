import Base

/// The words of the template language.
enum TemplateLanguage {
    /// Filters that this version carries out.
    static let filters = ["default"]
    /// Filters that the language has and this version lacks.
    static let laterFilters = ["upcase", "downcase", "capitalize", "strip", "truncate", "date", "number", "pluralize"]
    /// The words of a condition.
    static let conditionWords = ["if", "elsif", "else", "endif"]

    static let notYet = "part of the language, but this version of Volley cannot do it yet"
}

/// The inside of `{{ … }}`: a column, and perhaps a default.
struct TemplateTag {
    /// What a tag stands for.
    struct Column {
        var name: String
        /// Where the name begins in the text.
        var start: Int
        var fallback: String?
    }

    /// What is wrong, and where in the text.
    struct Mistake: Error {
        let message: String
        let index: Int
        let remedy: String
    }

    private let inside: ArraySlice<Unicode.Scalar>
    private var index: Int

    /// - Parameter inside: the scalars between the braces, with the indices of the whole text.
    init(_ inside: ArraySlice<Unicode.Scalar>) {
        self.inside = inside
        index = inside.startIndex
    }

    /// The column; nil for an empty tag.
    mutating func read() -> Result<Column?, Mistake> {
        do throws(Mistake) {
            try refuseTypography()
            skipSpace()
            guard index < inside.endIndex else { return .success(nil) }
            var column = try readName()
            while index < inside.endIndex {
                index += 1
                try readFilter(&column)
            }
            return .success(column)
        } catch { return .failure(error) }
    }

    /// Curly quotes and full-width signs come from word processors and from input methods, and look almost right.
    private func refuseTypography() throws(Mistake) {
        var quote: Unicode.Scalar?
        for place in inside.indices {
            let scalar = inside[place]
            if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "'" || scalar == "\"" {
                quote = scalar
            } else if Self.curlyQuotes.contains(scalar) {
                throw Mistake(
                    message: "the quote \(scalar) does not work inside '{{ }}'", index: place,
                    remedy: "Write straight quotes: 'text' or \"text\".")
            } else if let plain = Self.fullWidth[scalar] {
                throw Mistake(
                    message: "the full-width sign \(scalar) does not work inside '{{ }}'", index: place,
                    remedy: "Write the plain sign \(plain).")
            }
        }
    }

    private static let curlyQuotes: Set<Unicode.Scalar> = ["“", "”", "„", "‟", "‘", "’", "‚", "‛", "«", "»", "‹", "›", "＂", "＇", "`", "´"]
    private static let fullWidth: [Unicode.Scalar: Unicode.Scalar] = ["｜": "|", "：": ":", "｛": "{", "｝": "}", "＿": "_", "，": ","]

    private mutating func readName() throws(Mistake) -> Column {
        let start = index
        if inside[start] == "'" || inside[start] == "\"" {
            throw Mistake(
                message: "'{{ }}' takes a column, not a text in quotes", index: start,
                remedy: "Name a column, for example: {{ first_name }}.")
        }
        let end = inside[start...].firstIndex(of: "|") ?? inside.endIndex
        var last = end
        while last > start, Self.isSpace(inside[last - 1]) { last -= 1 }
        let written = text(start..<last)
        guard last > start else {
            throw Mistake(
                message: "the column is missing before '|'", index: start, remedy: "For example: {{ first_name | default: 'there' }}.")
        }
        if let space = inside[start..<last].firstIndex(where: Self.isSpace),
            inside[start..<space].allSatisfy(Self.isNameScalar)
        {
            throw spacesInName(written, start: start, space: space)
        }
        guard Self.isName(inside[start..<last]) else {
            throw Mistake(
                message: "'\(written)' cannot be a column's name", index: start,
                remedy:
                    "Names hold letters, digits, '_', '.' and '-', and begin with a letter or '_'; rename the column in the export."
            )
        }
        index = end
        return Column(name: written, start: start)
    }

    private func spacesInName(_ written: String, start: Int, space: Int) -> Mistake {
        let words = written.unicodeScalars.split(whereSeparator: Self.isSpace).map { String($0) }
        let second = words[1].prefix { $0 != ":" }
        if (TemplateLanguage.filters + TemplateLanguage.laterFilters).contains(String(second)),
            Self.isName(ArraySlice(words[0].unicodeScalars))
        {
            let place = inside[space...].firstIndex { !Self.isSpace($0) } ?? space
            return Mistake(
                message: "'|' is missing before '\(second)'", index: place, remedy: "For example: {{ \(words[0]) | default: 'text' }}.")
        }
        return Mistake(
            message: "a column's name cannot hold spaces: '\(written)'", index: start,
            remedy: "Rename the column in the export, for example to '\(words.joined(separator: "_"))'.")
    }

    /// Reads a filter after its `|`, up to the next one.
    private mutating func readFilter(_ column: inout Column) throws(Mistake) {
        skipSpace()
        let start = index
        while index < inside.endIndex, Self.isNameScalar(inside[index]) { index += 1 }
        let name = text(start..<index)
        guard !name.isEmpty else {
            throw Mistake(
                message: "no filter stands after '|'", index: start, remedy: "For example: {{ \(column.name) | default: 'text' }}.")
        }
        guard !TemplateLanguage.laterFilters.contains(name) else {
            throw Mistake(
                message: "the filter '\(name)' is \(TemplateLanguage.notYet)", index: start,
                remedy: "Prepare the text in a column of the export.")
        }
        guard TemplateLanguage.filters.contains(name) else {
            let nearest = nearestName(to: name, among: TemplateLanguage.filters + TemplateLanguage.laterFilters)
            throw Mistake(
                message: "there is no filter '\(name)'", index: start,
                remedy: nearest.map { "Did you mean '\($0)'?" } ?? "This version of Volley has one filter: default.")
        }
        guard column.fallback == nil else {
            throw Mistake(message: "'default' stands twice", index: start, remedy: "Keep one of them.")
        }
        column.fallback = try readArgument(column.name)
    }

    private mutating func readArgument(_ column: String) throws(Mistake) -> String {
        let example = "For example: {{ \(column) | default: 'text' }}."
        skipSpace()
        guard index < inside.endIndex, inside[index] == ":" else {
            throw Mistake(message: "'default' needs a text after ':'", index: index, remedy: example)
        }
        index += 1
        skipSpace()
        guard index < inside.endIndex, inside[index] != "|" else {
            throw Mistake(message: "'default' needs a text after ':'", index: index, remedy: example)
        }
        let argument: String
        let quote = inside[index]
        if quote == "'" || quote == "\"" {
            guard let end = inside[(index + 1)...].firstIndex(of: quote) else {
                throw Mistake(message: "the quote \(quote) is never closed", index: index, remedy: example)
            }
            argument = text((index + 1)..<end)
            index = end + 1
        } else {
            argument = try readNumber(example)
        }
        skipSpace()
        guard index == inside.endIndex || inside[index] == "|" else { throw trailing(after: argument, quote: quote) }
        return argument
    }

    private mutating func readNumber(_ example: String) throws(Mistake) -> String {
        let start = index
        while index < inside.endIndex, !Self.isSpace(inside[index]), inside[index] != "|" { index += 1 }
        let written = text(start..<index)
        let digits = (written.hasPrefix("-") ? written.dropFirst() : written[...]).split(separator: ".", omittingEmptySubsequences: false)
        let isNumber = digits.count <= 2 && digits.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isNumber else { throw Mistake(message: "the text after 'default:' needs quotes", index: start, remedy: example) }
        return written
    }

    private func trailing(after argument: String, quote: Unicode.Scalar) -> Mistake {
        if inside[index] == "," {
            return Mistake(message: "'default' takes one text only", index: index, remedy: "Remove what follows the first.")
        }
        let isQuoted = quote == "'" || quote == "\""
        return Mistake(
            message: "something follows the text of 'default'", index: index,
            remedy: isQuoted && inside[index...].contains(quote)
                ? "A text that holds \(quote) stands between \(quote == "'" ? "\"…\"" : "'…'"); there are no escapes."
                : "Remove it, or put it inside the quotes.")
    }

    private mutating func skipSpace() {
        while index < inside.endIndex, Self.isSpace(inside[index]) { index += 1 }
    }

    private func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(inside[range])) }

    /// No-break and ideographic spaces count too: word processors and input methods write them unseen.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }

    private static func isName(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = scalars.first, first == "_" || isLetter(first) else { return false }
        return scalars.allSatisfy(isNameScalar)
    }

    /// Letters of any script: exports name their columns in the language of their people.
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "." || scalar == "-"
    }
}
