import Base
import PushServices

/// JSON in UTF-8, cut at the places where a device's cells decide what follows: a list of steps
/// with column numbers. All constants are already escaped in one buffer, so that rendering copies
/// runs of bytes and escapes only the results of filters.
struct CompiledPayload: Sendable {
    /// Constants, and the action that follows them.
    struct Step: BitwiseCopyable {
        enum Kind: UInt8 {
            case end
            /// The cell of `column`, or `text` (escaped) for a blank one.
            case cell
            /// The same, passed through the filters in `range`.
            case filtered
            /// Continues with the next step if the tests in `range` hold, otherwise with step
            /// `target`.
            case branch
            /// Continues with step `target`.
            case jump
            /// Before and after a text that people see and that may be blank or have a gap. With
            /// `mustShow`, a blank text is a failure.
            case shownStart, shownEnd
            /// In such a text, a condition that prints nothing in any branch.
            case gap
            /// Before and after a web address; with `mustBeSecure`, an address that is not https is
            /// a failure. One of a web page gets the parameters in `range`.
            case addressStart, addressEnd
            /// Before a value that ends with one of the next two. They may be nested.
            case mark
            /// Makes what follows the mark, which is JSON, the inside of a JSON string.
            case encode
            /// If there is more behind the mark than the output's limit allows, that is a failure.
            case limit
        }

        var kind: Kind
        /// The part of `constants` that comes first.
        var constants = TextRange.empty
        var column: Int32 = 0
        /// An index into `outputs`.
        var output: Int32 = 0
        var target: Int32 = 0
        var range = TextRange.empty
        /// Whether `range` holds a text for blank cells.
        var hasFallback = false
        /// For an output: whether it leaves a gap in a text that people see when it prints nothing.
        var leavesGap = false
        var mustShow = false
        var mustBeSecure = false
    }

    /// What a tag prints; explains why a device gets no push.
    struct Output: Sendable {
        /// The index of the template's column; -1 for a whole text.
        var column: Int
        var place: SourcePosition
        /// The most that there may be of a value; nil for anything else.
        var limit: PayloadLimit?
    }

    /// Why nothing was rendered, and at which output.
    struct Failure {
        enum Kind { case blank, notADate, notANumber, notHTTPS, blankText, gap, tooLong }

        var kind: Kind
        var output: Int
        /// How much there is of a value that is too long.
        var count = 0
    }

    var constants: [UInt8] = []
    /// The arguments of filters and comparisons.
    var literals: [UInt8] = []
    var steps: [Step] = []
    var filters: [CompiledFilter] = []
    var tests: [CompiledTest] = []
    var values: [ComparisonValue] = []
    var dateParts: [CompiledDatePart] = []
    var plurals: [CompiledPlural] = []
    var outputs: [Output] = []

    /// Appends a payload; leaves `bytes` unchanged on failure.
    /// - Parameter language: the device's language tag; may be empty.
    func append(_ cells: EscapedCells, language: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Failure? {
        let old = bytes.count
        // Slices of the arrays themselves would be retained and released with every piece.
        return constants.withUnsafeBufferPointer { constants in
            steps.withUnsafeBufferPointer { steps in
                var language = DeviceLanguage(tag: language)
                var index = 0
                var shown = VisibleGaps()
                var addressStart = old
                var marks = Marks()
                while true {
                    let step = steps[index]
                    bytes.append(contentsOf: constants[step.constants])
                    index += 1
                    switch step.kind {
                    case .end: return nil
                    case .jump: index = Int(step.target)
                    case .shownStart: shown = VisibleGaps(start: bytes.count)
                    case .shownEnd:
                        let failure =
                            step.mustShow && shown.isBlank(bytes)
                            ? Failure(kind: .blankText, output: Int(step.output)) : shown.failure(bytes)
                        if let failure {
                            bytes.removeSubrange(old...)
                            return failure
                        }
                    case .gap: shown.add(Int(step.output), bytes: bytes)
                    case .mark: marks.push(bytes.count)
                    case .encode: escapeInPlace(&bytes, from: marks.pop())
                    case .limit:
                        if let count = excess(bytes, from: marks.pop(), output: Int(step.output)) {
                            bytes.removeSubrange(old...)
                            return Failure(kind: .tooLong, output: Int(step.output), count: count)
                        }
                    case .addressStart: addressStart = bytes.count
                    case .addressEnd:
                        WebAddress.encode(&bytes, from: addressStart)
                        if step.mustBeSecure, !WebAddress.isSecure(bytes, from: addressStart) {
                            bytes.removeSubrange(old...)
                            return Failure(kind: .notHTTPS, output: Int(step.output))
                        }
                        if step.range != .empty {
                            WebAddress.add(
                                literals[Int(step.range.start)..<Int(step.range.end)], to: &bytes, from: addressStart)
                        }
                    case .branch: if !holds(step.range, cells, bytes: &bytes) { index = Int(step.target) }
                    case .cell:
                        let cell = cells[Int(step.column)]
                        if !Blank.isCell(escaped: cell) {
                            bytes.append(contentsOf: cell)
                        } else if step.hasFallback {
                            literals.withUnsafeBufferPointer { bytes.append(contentsOf: $0[step.range]) }
                            if step.leavesGap { shown.add(Int(step.output), bytes: bytes) }
                        } else {
                            bytes.removeSubrange(old...)
                            return Failure(kind: .blank, output: Int(step.output))
                        }
                    case .filtered:
                        let start = bytes.count
                        if let kind = appendFiltered(cells[Int(step.column)], step.range, &language, to: &bytes) {
                            bytes.removeSubrange(old...)
                            return Failure(kind: kind, output: Int(step.output))
                        }
                        if step.leavesGap, isBlank(bytes, from: start) { shown.add(Int(step.output), bytes: bytes) }
                    }
                }
            }
        }
    }
}

extension CompiledPayload {
    /// How much of a value there is, if that is more than its limit allows.
    private func excess(_ bytes: [UInt8], from start: Int, output: Int) -> Int? {
        guard let limit = outputs[output].limit else { preconditionFailure("a limit without a number") }
        let count = bytes.withUnsafeBufferPointer { limit.part.count(in: UnsafeBufferPointer(rebasing: $0[start...])) }
        return count > limit.part.most ? count : nil
    }
}

extension PayloadPart {
    /// How much of a value there is, which is written as JSON.
    func count(in json: UnsafeBufferPointer<UInt8>) -> Int {
        switch unit {
        case .bytes: return json.count
        case .characters:
            // Without the quotes; an escape is one character.
            var (count, index) = (0, 1)
            while index < json.count - 1 {
                let byte = json[index]
                let isEscape = byte == UInt8(ascii: "\\")
                if byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
                index += isEscape ? (json[index + 1] == UInt8(ascii: "u") ? 6 : 2) : 1
            }
            return count
        }
    }
}

/// Where values begin that are not at their ends yet.
private struct Marks {
    private var places = InlineArray<4, Int>(repeating: 0)
    private var count = 0

    mutating func push(_ place: Int) {
        places[count] = place
        count += 1
    }

    mutating func pop() -> Int {
        count -= 1
        return places[count]
    }
}

/// Whether there is nothing to see in the bytes from `start` on.
private func isBlank(_ bytes: [UInt8], from start: Int) -> Bool {
    bytes.withUnsafeBufferPointer { Blank.isText(escaped: UnsafeBufferPointer(rebasing: $0[start...])) }
}

/// The gaps of a text that people see, while it is rendered. One gap is kept at a time: when the
/// next one comes, the text after the previous one is known.
private struct VisibleGaps {
    /// Where the text begins.
    var start = 0
    private var place = -1
    private var output = 0
    private var found: CompiledPayload.Failure?

    init(start: Int = 0) { self.start = start }

    func isBlank(_ bytes: [UInt8]) -> Bool { Content.isBlank(bytes, from: start) }

    /// Notes that an output printed nothing, at the end of `bytes`.
    mutating func add(_ output: Int, bytes: [UInt8]) {
        // If there is nothing to see in between, the later gap has the same text on both sides, and
        // perhaps one more blank before it.
        if place >= 0, !Content.isBlank(bytes, from: place) { found = failure(bytes) }
        place = bytes.count
        self.output = output
    }

    /// What is wrong with the text; nil if no gap leaves punctuation behind.
    func failure(_ bytes: [UInt8]) -> CompiledPayload.Failure? {
        guard found == nil, place >= 0 else { return found }
        let isLeft = bytes.withUnsafeBufferPointer {
            Gap.leavesPunctuation(in: UnsafeBufferPointer(rebasing: $0[start...]), at: place - start)
        }
        return isLeft ? CompiledPayload.Failure(kind: .gap, output: output) : nil
    }
}

/// A place in a text where a tag printed nothing, and what people would read around it.
///
/// A push is not sent if this leaves punctuation that belonged to the missing text: `Hi , welcome`,
/// `, welcome`, `Hi !`, `( )`, `Welcome back, `. This is so if a mark follows the gap, and a blank,
/// the beginning or an opening sign comes before it; and if the text ends with the gap, and a
/// comma, a colon or an opening sign comes before it. `Hi, welcome` and `Bonjour !` are fine: only
/// the tag and its own blank are gone.
enum Gap {
    /// Whether punctuation is left behind.
    /// - Parameters:
    ///   - text: as rendered, escaped for JSON.
    ///   - place: where the gap is in it.
    static func leavesPunctuation(in text: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        var before: Unicode.Scalar?
        var isApart = true
        var index = 0
        while index < place {
            let scalar = next(text, index: &index)
            if scalar.properties.isWhitespace {
                isApart = true
            } else if !Blank.isInvisible(scalar) {
                before = scalar
                isApart = false
            }
        }
        let opens = before.map(openers.contains) ?? false
        guard let after = visible(text, index: &index) else {
            return opens || isApart && (before.map { commas.contains($0) || $0 == ":" || $0 == "：" } ?? false)
        }
        let following = index < text.count ? next(text, index: &index) : nil
        // "''" around the missing text.
        if let before, before == after, before == "\"" || before == "'" { return true }
        if opens, closers.contains(after) { return true }
        guard isApart || opens || before.map(commas.contains) ?? false else { return false }
        switch after {
        // ":)" and ".NET" are not punctuation.
        case ".", ":", ";":
            return following.map { $0.properties.isWhitespace || [".", "!", "?", "…", "\"", "”"].contains($0) } ?? true
        // "'s cart"
        case "'", "’":
            return following == "s" && (index == text.count || !next(text, index: &index).properties.isAlphabetic)
        default: return marks.contains(after)
        }
    }

    /// The next character that people see.
    private static func visible(_ text: UnsafeBufferPointer<UInt8>, index: inout Int) -> Unicode.Scalar? {
        while index < text.count {
            let scalar = next(text, index: &index)
            if !Blank.isInvisible(scalar) { return scalar }
        }
        return nil
    }

    /// The character at `index`, which moves past it.
    private static func next(_ text: UnsafeBufferPointer<UInt8>, index: inout Int) -> Unicode.Scalar {
        guard text[index] == UInt8(ascii: "\\") else {
            var bytes = text[index...].makeIterator()
            var decoder = UTF8()
            guard case .scalarValue(let scalar) = decoder.decode(&bytes) else {
                index += 1
                return "\u{FFFD}"
            }
            index += UTF8.width(scalar)
            return scalar
        }
        let escaped = text[index + 1]
        index += escaped == UInt8(ascii: "u") ? 6 : 2
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return Unicode.Scalar(escaped)
        case UInt8(ascii: "u"): return "\0"
        default: return "\n"
        }
    }

    private static let commas: Set<Unicode.Scalar> = [",", "،", "、", "，"]
    private static let openers: Set<Unicode.Scalar> = ["(", "[", "{", "¡", "¿", "“", "„", "«", "（", "「", "『", "【", "《"]
    private static let closers: Set<Unicode.Scalar> = [")", "]", "}", "!", "?", "“", "”", "»", "）", "」", "』", "】", "》"]
    private static let marks: Set<Unicode.Scalar> = [
        ",", "!", "?", "…", "،", "؛", "؟", "、", "。", "，", "！", "？", "；", "：", "．", ")", "]", "}", "）", "」", "』", "】",
        "》",
    ]
}
