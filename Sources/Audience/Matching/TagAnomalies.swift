import Base

/// Checks texts of a column of tags that are not a tag of the query, and hold characters that are
/// rarely part of one: whether a tag of the query is in them in another form. One for each thread;
/// results are remembered, as columns repeat their values.
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
    /// The query's separator.
    private let separator: [Unicode.Scalar]
    /// By number of a tag: whether it leaves devices out.
    private let leavesOut: [Bool]
    /// The most words that a tag may be written in.
    private let mostWords: Int
    /// The signs before and after a tag that belong to it, as in `c++`.
    private let ownSigns: [(before: String, after: String)]
    /// The characters of tags that have no word.
    private let ownCharacters: Set<Unicode.Scalar>
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
        separator = Array(String(decoding: compiled.separator, as: UTF8.self).unicodeScalars)
        leavesOut = compiled.roles.map { $0.isExcluded || $0.isNone }
        var (mostWords, signs, characters) = (1, Set<[String]>(), Set<Unicode.Scalar>())
        for name in names.names {
            let text = TagText(name)
            guard let first = text.words.first, let last = text.words.last else {
                characters.formUnion(name.unicodeScalars)
                continue
            }
            mostWords = max(mostWords, text.words.count)
            signs.insert([text.string(0..<first.lowerBound), text.string(last.upperBound..<text.letters.count)])
        }
        // A hyphen or an invisible character may cut a word of a text.
        self.mostWords = min(mostWords, Self.mostWordsOfName) + 2
        ownSigns = signs.filter { $0 != ["", ""] }.map { (before: $0[0], after: $0[1]) } + [(before: "", after: "")]
        ownCharacters = characters
    }

    private static let mostWordsOfName = 6

    /// A number by which a cell is remembered.
    @inline(__always) static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        SequenceDigest.element(text, with: 0x7A65) | 1
    }

    /// Whether a cell is known to have no finding.
    @inline(__always) func isPlain(_ hash: UInt64) -> Bool { plainCells[Self.place(hash)] == hash }

    mutating func notePlain(_ hash: UInt64) { plainCells[Self.place(hash)] = hash }

    private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) & (mostJudged - 1) }

    /// Checks a text.
    /// - Parameters:
    ///   - text: without white space around it, not a tag of the query; `NameTable.slack` bytes
    ///     behind it can be read.
    ///   - isElement: whether it is an element of a list, in which the separator has no meaning.
    mutating func finding(_ text: UnsafeBufferPointer<UInt8>, isElement: Bool) -> Finding {
        let hash = SequenceDigest.element(text, with: isElement ? 0x656C : 0x7478) | 1
        let place = Self.place(hash)
        if judged[place].hash == hash { return judged[place].finding }
        let finding = mayHold(text) ? judge(String(decoding: text, as: UTF8.self), isElement: isElement) : .nothing
        judged[place] = Judged(hash: hash, finding: finding)
        return finding
    }

    /// Whether some word of the text begins as a name does; text that is not ASCII may be written
    /// in many ways, and after a separator that was written out (`\n`, `%3B`, `=3B`, `&#59;`) no
    /// word seems to begin.
    private func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var isBehindLetter = false
        for byte in text {
            if byte >= 0x80 || Self.beginCodes.contains(byte) { return true }
            if !isBehindLetter, near.mayBegin(with: byte) { return true }
            isBehindLetter = (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 <= 9
        }
        return false
    }

    /// The signs that begin a character that a program wrote out.
    private static let beginCodes = Array("\\%=&".utf8)

    private func judge(_ text: String, isElement: Bool) -> Finding {
        if let texts = textsOfObjects(in: text) {
            let tags = texts.flatMap(tags(inText:))
            return (tags.first { leavesOut[$0] } ?? tags.first).map { .mark(.object, tag: $0) } ?? .nothing
        }
        if Spelling.isEnclosed(text), let tag = tag(String(Spelling.core(text[...]))) {
            return .mark(.enclosure, tag: tag)
        }
        if near.number(of: text) != nil { return .near }
        return readings(of: text).lazy.compactMap { finding(in: $0, isElement) }.first ?? .nothing
    }

    /// A text decoded, as it is, and decoded as mail: in `vip\news`, no line break was written out,
    /// and in `vip=20`, a number follows more often than a blank that was.
    private func readings(of text: String) -> [TagText] {
        var readings = [TagText(text, codes: "&\\%", others: ownCharacters)]
        if readings[0].isDecoded { readings.append(TagText(text, others: ownCharacters)) }
        if text.utf8.contains(UInt8(ascii: "=")) {
            readings.append(TagText(text, codes: "&\\%=", others: ownCharacters))
        }
        return readings
    }

    /// The form of a tag that leaves devices out, if there is one; of several forms that with the
    /// lowest rank.
    private func finding(in text: TagText, _ isElement: Bool) -> Finding? {
        var best: (rank: Int, finding: Finding)?
        var first = 0
        while first < text.words.count {
            guard let (tag, part, next) = tag(in: text, from: first) else {
                first += 1
                continue
            }
            first = next
            guard let mark = mark(around: part, in: text, isElement: isElement) else { continue }
            let rank = mark.rank + (leavesOut[tag] ? 0 : TagMark.ranks)
            if rank < best?.rank ?? .max { best = (rank, .mark(mark, tag: tag)) }
        }
        return best?.finding
    }

    /// The tag that most of the words from one on are, where it is, and the first word after it.
    private func tag(in text: TagText, from first: Int) -> (tag: Int, part: Range<Int>, next: Int)? {
        for last in (first..<min(first + mostWords, text.words.count)).reversed() {
            let inside = text.words[first].lowerBound..<text.words[last].upperBound
            for signs in ownSigns {
                let start = inside.lowerBound - signs.before.unicodeScalars.count
                let end = inside.upperBound + signs.after.unicodeScalars.count
                guard start >= 0, end <= text.letters.count, text.string(start..<inside.lowerBound) == signs.before,
                    text.string(inside.upperBound..<end) == signs.after, let tag = tag(text.string(start..<end))
                else { continue }
                return (tag, start..<end, last + 1)
            }
        }
        return nil
    }

    /// What keeps a tag in a text from counting; nil for what is not a mistake.
    private func mark(around part: Range<Int>, in text: TagText, isElement: Bool) -> TagMark? {
        let (before, after) = text.gaps(around: part)
        let (isFirst, isLast) = (before.lowerBound == 0, after.upperBound == text.letters.count)
        let isBare = text.letters[before].allSatisfy { Spelling.isEdge($0.scalar) }
        if isFirst, isBare, let sign = text.letters[after].first(where: { !Spelling.isEdge($0.scalar) }),
            "=:".unicodeScalars.contains(sign.scalar)
        {
            let said = trimmedText(
                String(text.string(part.upperBound..<text.letters.count).drop { !$0.isLetter && !$0.isNumber }))
            // A value that is false is not a mistake.
            if Array(said.utf8).withUnsafeBufferPointer(truthValue) == false { return nil }
            if !isLast { return .value }
        }
        let signs = text.letters[before] + text.letters[after]
        let separators = [(before, isFirst), (after, isLast)].compactMap { gap, isAtEdge in
            separator(text.letters[gap], of: text, isAtEdge: isAtEdge, isElement: isElement)
        }
        if let separator = separators.min(by: { $0.rank < $1.rank }) { return separator }
        guard isFirst, isLast else { return nil }
        if signs.isEmpty { return text.isDecoded ? .writtenOut : nil }
        if signs.allSatisfy({ Spelling.isEdge($0.scalar) }) { return .enclosure }
        let name = text.string(part)
        // A number has such signs, and so have `c++` and `c#`.
        if name.allSatisfy(\.isNumber) || before.isEmpty && text.string(after).allSatisfy({ $0 == "+" || $0 == "#" }) {
            return nil
        }
        return text.letters.first?.scalar == "#" && signs.count == 1 ? .hash : .sign
    }

    /// What separates a tag from the next word; at an end of the text only what is rarely anything
    /// else.
    private func separator(_ gap: ArraySlice<TagText.Letter>, of text: TagText, isAtEdge: Bool, isElement: Bool)
        -> TagMark?
    {
        func mark(_ letter: TagText.Letter) -> TagMark? {
            let written = text.written(letter)
            // In a list, the separator has no meaning; part of a longer one separates nothing.
            guard isElement || written != nil || separator != [letter.scalar] else { return nil }
            return .separator(letter.scalar == "\r" ? "\n" : letter.scalar, written: written)
        }
        let isSeparating = { (letter: TagText.Letter) in
            ["\t", "\n", "\r"].contains(letter.scalar)
                || !Spelling.isEdge(letter.scalar) && TagMark.separatesLists(letter.scalar)
        }
        if let letter = gap.first(where: isSeparating) { return mark(letter) }
        guard !isAtEdge else { return nil }
        func isBlank(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value <= 0x20 || scalar.value == 0x7F || Blank.isInvisible(scalar)
        }
        let sign = gap.first { !Spelling.isEdge($0.scalar) && !isBlank($0.scalar) }
        if let letter = sign ?? gap.first(where: { $0.scalar == ">" || $0.scalar == "\u{BB}" }) { return mark(letter) }
        let blanks = gap.filter { isBlank($0.scalar) }
        if let letter = blanks.first(where: { text.written($0) != nil }) { return mark(letter) }
        if blanks.contains(where: { $0.scalar != " " }) { return .otherBlank }
        // Nothing but quotes and brackets.
        guard !blanks.isEmpty else { return gap.first.flatMap(mark) }
        return isElement || !separator.contains(" ") ? .blank : nil
    }

    /// The texts of an object, `{"vip":"1","tags":["news"]}`, or of a list with one: names and
    /// values, at any depth, but for what they say is false. nil for a text that is neither.
    private func textsOfObjects(in text: String) -> [String]? {
        guard text.first == "{" && text.last == "}" || text.first == "[" && text.last == "]", text.contains("{"),
            text.contains(":"),
            let value = try? JSONValue(parsing: Array(text.utf8))
        else { return nil }
        return Self.texts(of: value)
    }

    private static func texts(of value: JSONValue) -> [String] {
        switch value {
        case .string(let text): return [text]
        case .array(let elements): return elements.flatMap(texts)
        case .object(let members):
            return members.flatMap { member in
                let said = member.value.stringValue ?? member.value.text
                let isFalse =
                    said.isEmpty || said == "null" || Array(said.utf8).withUnsafeBufferPointer(truthValue) == false
                return isFalse ? [] : [member.name] + texts(of: member.value)
            }
        default: return []
        }
    }

    /// The tags among the words of a text.
    private func tags(inText text: String) -> [Int] {
        if let tag = tag(text) { return [tag] }
        return readings(of: text).flatMap { text in
            var (found, first): ([Int], Int) = ([], 0)
            while first < text.words.count {
                let next = tag(in: text, from: first)
                if let next { found.append(next.tag) }
                first = next?.next ?? first + 1
            }
            return found
        }
    }

    /// The number of the tag that a text equals, perhaps apart from details that people overlook.
    private func tag(_ text: String) -> Int? {
        let text = trimmedText(text)
        return text.isEmpty ? nil : names.numbers(of: [text]).first ?? near.number(of: text)
    }
}
