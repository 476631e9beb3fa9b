import Base

/// Checks texts of a column of tags that are not a tag of the query, and hold characters that are rarely part of one: whether a tag of the
/// query is in them in another form. One for each thread; results are remembered, as columns repeat their values.
struct TagAnomalies {
    /// What was found in a text. It depends on the text alone.
    enum Finding {
        case nothing
        /// The tag, apart from details that people overlook.
        case near
        case mark(TagMark, tag: Int)
    }

    private let names: NameTable
    private let near: SimilarSpellings
    /// Marks that are not the separator.
    private let marks: [TagMark]
    /// By the last bits of a text's hash: texts that were checked.
    private var judged = [Judged](repeating: Judged(hash: 0, finding: .nothing), count: Self.mostJudged)
    /// Hashes of cells without a finding.
    private var plainCells = [UInt64](repeating: 0, count: Self.mostJudged)

    private struct Judged {
        var hash: UInt64
        var finding: Finding
    }

    private static let mostJudged = 1024

    init(_ compiled: CompiledSelectors) {
        names = compiled.tags
        near = compiled.nearTags
        marks = compiled.otherMarks
    }

    /// A number by which a cell is remembered.
    @inline(__always) static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 { SequenceDigest.element(text, with: 0x7A65) | 1 }

    /// Whether a cell is known to have no finding.
    @inline(__always) func isPlain(_ hash: UInt64) -> Bool { plainCells[Self.place(hash)] == hash }

    mutating func notePlain(_ hash: UInt64) { plainCells[Self.place(hash)] = hash }

    private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) & (mostJudged - 1) }

    /// Checks a text.
    /// - Parameters:
    ///   - text: without white space around it, not a tag of the query; `NameTable.slack` bytes behind it can be read.
    ///   - isElement: whether it is an element of a list, in which the separator has no meaning.
    mutating func finding(_ text: UnsafeBufferPointer<UInt8>, isElement: Bool) -> Finding {
        let hash = SequenceDigest.element(text, with: isElement ? 0x656C : 0x7478) | 1
        let place = Self.place(hash)
        if judged[place].hash == hash { return judged[place].finding }
        let finding = mayHold(text) ? judge(String(decoding: text, as: UTF8.self), isElement ? TagMark.allCases : marks) : .nothing
        judged[place] = Judged(hash: hash, finding: finding)
        return finding
    }

    /// Whether some word of the text begins as a name does; text that is not ASCII may be written in many ways, and after a separator that
    /// was written out (`\n`, `%3B`) no word seems to begin.
    private func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var isBehindLetter = false
        for byte in text {
            if byte >= 0x80 || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%") { return true }
            if !isBehindLetter, near.mayBegin(with: byte) { return true }
            isBehindLetter = (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 <= 9
        }
        return false
    }

    private func judge(_ text: String, _ marks: [TagMark]) -> Finding {
        if let names = trueNames(inObject: text) {
            return names.lazy.compactMap { tag($0[...]) }.first.map { .mark(.object, tag: $0) } ?? .nothing
        }
        func behind(_ mark: TagMark) -> Finding? {
            guard !mark.characters.isEmpty || mark.sequence != nil else { return nil }
            let parts = mark.sequence.map { text.split(separator: $0) } ?? text.split { mark.characters.contains($0) }
            // Around a tag such a blank is a detail that people overlook.
            guard parts.count > 1 || mark != .otherBlank && parts.first?.utf8.count ?? 0 < text.utf8.count else { return nil }
            return parts.lazy.compactMap { tag(Spelling.core($0)) }.first.map { .mark(mark, tag: $0) }
        }
        for mark in marks where !mark.isOftenPart && mark != .blank { if let found = behind(mark) { return found } }
        if Spelling.isEnclosed(text), let tag = tag(Spelling.core(text[...])) { return .mark(.enclosure, tag: tag) }
        if near.number(of: text) != nil { return .near }
        if text.first == "#", let tag = tag(text.dropFirst()) { return .mark(.hash, tag: tag) }
        if let end = text.firstIndex(where: { "=:".contains($0) }), let tag = tag(text[..<end]) {
            let said = Array(trimmedText(String(text[text.index(after: end)...])).utf8).withUnsafeBufferPointer(truthValue)
            // A value that is false is not a mistake.
            return said == false ? .nothing : .mark(.value, tag: tag)
        }
        let bare = Self.withoutSigns(text[...])
        if bare.utf8.count < text.utf8.count, let tag = tag(bare) { return .mark(.sign, tag: tag) }
        for mark in marks where mark.isOftenPart { if let found = behind(mark) { return found } }
        // Blanks appear beside other marks, too.
        return marks.contains(.blank) ? behind(.blank) ?? .nothing : .nothing
    }

    /// The names of an object, `{"vip":"1","news":"false"}`, that are not false; nil for a text that is not an object.
    private func trueNames(inObject text: String) -> [String]? {
        guard text.first == "{", text.last == "}", text.contains(":"), let value = try? JSONValue(parsing: Array(text.utf8)),
            case .object(let members) = value
        else { return nil }
        return members.filter { member in
            let said = member.value.stringValue ?? member.value.text
            return !said.isEmpty && said != "null" && Array(said.utf8).withUnsafeBufferPointer(truthValue) != false
        }.map(\.name)
    }

    /// The number of the tag that a text equals, perhaps apart from details that people overlook.
    private func tag(_ text: Substring) -> Int? {
        let text = trimmedText(String(text))
        return text.isEmpty ? nil : names.numbers(of: [text]).first ?? near.number(of: text)
    }

    /// Without signs around it that are rarely part of a tag: `^vip`, `$vip`, `@vip`, `vip!`, `\vip`. A number has such signs, and so have
    /// `c++` and `c#`.
    private static func withoutSigns(_ text: Substring) -> Substring {
        let inside = Spelling.without(text) { scalar in
            switch scalar.properties.generalCategory {
            case .otherPunctuation, .currencySymbol, .modifierSymbol, .mathSymbol: scalar != "#" && scalar != "+"
            default: false
            }
        }
        return inside.allSatisfy(\.isNumber) ? "" : inside
    }
}
