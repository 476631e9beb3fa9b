/// Makes tables from `LanguageData`. The data is Volley's own, so a mistake in it is a crash in the
/// first test.
struct LanguageDataReader {
    private(set) var languages: [LanguageTable] = []
    private(set) var names: [TextRange] = []
    private(set) var pool: [UInt8]
    private(set) var dateParts: [CompiledDatePart] = []
    private(set) var index: [LanguageKey: Int] = [:]
    /// The lines of each language, by its number.
    private var lines: [[TextRange]] = []

    private static let linesOfLanguage = 11

    init() {
        pool =
            LanguageData.text.withUTF8Buffer { Array($0) } + [UInt8(ascii: "\n")]
            + LanguageData.variants.withUTF8Buffer { Array($0) }
    }

    mutating func read() {
        let end = UInt32(LanguageData.text.utf8CodeUnitCount)
        let all = split(TextRange(start: 0, end: end), at: UInt8(ascii: "\n"))
        precondition(all.count % Self.linesOfLanguage == 0, "a line of a language is missing")
        for first in stride(from: 0, to: all.count, by: Self.linesOfLanguage) {
            readLanguage(Array(all[first..<first + Self.linesOfLanguage]))
        }
        readVariants(TextRange(start: end + 1, end: UInt32(pool.count)))
        for alias in text(LanguageData.aliases).split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            let pair = alias.split(separator: "=")
            guard let language = index[LanguageKey(String(pair[1]))] else {
                preconditionFailure("\(alias) leads nowhere")
            }
            index[LanguageKey(String(pair[0]))] = language
        }
    }

    /// Each begins with a head, `es-AR<es-419|…`, and has the lines of the language after `<`,
    /// except those listed below it: `10:a.m.|p.m.`.
    private mutating func readVariants(_ range: TextRange) {
        var variant: [TextRange] = []
        for line in split(range, at: UInt8(ascii: "\n")) {
            let head = text(split(line, at: UInt8(ascii: "|"))[0]).split(separator: "<")
            if head.count == 2 {
                if !variant.isEmpty { readLanguage(variant) }
                guard let base = index[LanguageKey(String(head[1]))] else {
                    preconditionFailure("\(head) leads nowhere")
                }
                variant = [line] + lines[base].dropFirst()
            } else {
                let colon = pool[Int(line.start)...].firstIndex(of: UInt8(ascii: ":")) ?? 0
                variant[number(TextRange(start: line.start, end: UInt32(colon)))] = TextRange(
                    start: UInt32(colon) + 1, end: line.end)
            }
        }
        readLanguage(variant)
    }

    private mutating func readLanguage(_ lines: [TextRange]) {
        let fields = split(lines[0], at: UInt8(ascii: "|"))
        let tag = String(text(fields[0]).prefix { $0 != "<" })
        var table = LanguageTable()
        table.pluralRule = number(fields[1])
        (table.decimal, table.group, table.minus) = (fields[2], fields[3], fields[4])
        (table.primaryGroup, table.secondaryGroup, table.minimumGrouping) = (
            number(fields[5]), number(fields[6]), number(fields[7])
        )
        table.zero = text(fields[8]).unicodeScalars.first?.value ?? 0x30
        table.era = fields[9]
        let styles = split(lines[1], at: UInt8(ascii: "|")).map { readPattern($0) }
        (table.short, table.medium, table.long, table.full) = (styles[0], styles[1], styles[2], styles[3])
        for line in stride(from: 2, to: 10, by: 2) {
            let written = split(lines[line], at: UInt8(ascii: "|"))
            let alone =
                lines[line + 1].start == lines[line + 1].end ? written : split(lines[line + 1], at: UInt8(ascii: "|"))
            names += written + alone
        }
        let periods = split(lines[10], at: UInt8(ascii: "|"))
        (table.am, table.pm) = (periods[0], periods[1])
        table.casing =
            switch tag.prefix(2) {
            case "tr", "az": .turkic
            case "el": .greek
            case "nl": .dutch
            default: .common
            }
        index[LanguageKey(tag)] = languages.count
        languages.append(table)
        self.lines.append(lines)
        precondition(names.count == languages.count * LanguageTable.nameCount, "\(tag) lacks a name")
    }

    /// Reads a pattern such as `d. MMMM y`. Source: UTS #35 part 4, "Date Format Patterns".
    private mutating func readPattern(_ range: TextRange) -> TextRange {
        let start = UInt32(dateParts.count)
        var index = range.start
        var isQuoted = false
        while index < range.end {
            let byte = pool[Int(index)]
            var end = index + 1
            if byte == UInt8(ascii: "'") {
                isQuoted.toggle()
            } else if !isQuoted, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") {
                while end < range.end, pool[Int(end)] == byte { end += 1 }
                dateParts.append(CompiledDatePart(letter: byte, count: Int(end - index)))
            } else {
                dateParts.append(CompiledDatePart(.pooled, TextRange(start: index, end: end)))
                mergeTexts()
            }
            index = end
        }
        return TextRange(start: start, end: UInt32(dateParts.count))
    }

    private mutating func mergeTexts() {
        guard dateParts.count > 1 else { return }
        let (left, right) = (dateParts[dateParts.count - 2], dateParts[dateParts.count - 1])
        guard left.kind == .pooled, left.text.end == right.text.start, left.text.end > left.text.start else { return }
        dateParts.removeLast(2)
        dateParts.append(CompiledDatePart(.pooled, TextRange(start: left.text.start, end: right.text.end)))
    }

    // MARK: - Text

    private func split(_ range: TextRange, at separator: UInt8) -> [TextRange] {
        var (parts, start): ([TextRange], UInt32) = ([], range.start)
        for index in range.start..<range.end where pool[Int(index)] == separator {
            parts.append(TextRange(start: start, end: index))
            start = index + 1
        }
        return parts + [TextRange(start: start, end: range.end)]
    }

    private func text(_ range: TextRange) -> String {
        String(decoding: pool[Int(range.start)..<Int(range.end)], as: UTF8.self)
    }

    private func text(_ text: StaticString) -> String { text.withUTF8Buffer { String(decoding: $0, as: UTF8.self) } }

    private func number(_ range: TextRange) -> Int { Int(text(range)) ?? 0 }
}
