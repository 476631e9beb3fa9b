import Base

/// A filter, ready to be applied.
struct CompiledFilter: BitwiseCopyable {
    enum Kind: UInt8 {
        /// `text` for a blank cell.
        case fallback
        case upcase, downcase, capitalize, strip
        /// To `number` characters, including the ellipsis in `text`, which has `other` characters.
        case truncate
        /// In the named style `number`.
        case namedDate
        /// By the date parts in `text`.
        case date
        /// With `number` decimals; -1 keeps the number's own.
        case number
        /// `plurals[number]`
        case pluralize
    }

    var kind: Kind
    var text = TextRange.empty
    var number: Int32 = 0
    var other: Int32 = 0
}

/// The words of `pluralize`, in the payload's literals.
struct CompiledPlural: Sendable {
    /// By `PluralForm`; a form that is not written has the word of `other`.
    var words: [TextRange]
    /// A bit for each form that is written.
    var written: UInt8
    /// Whether there are two words without forms: the first is for 1, in every language.
    var isPair: Bool
}

/// The language of a device, looked up when it is first needed.
struct DeviceLanguage {
    let tag: UnsafeBufferPointer<UInt8>
    private var number = -1

    init(tag: UnsafeBufferPointer<UInt8>) { self.tag = tag }

    /// An index into `LanguageTables.shared`.
    mutating func table() -> Int {
        if number < 0 { number = LanguageTables.shared.find(tag) ?? LanguageTables.shared.fallback }
        return number
    }
}

extension CompiledPayload {
    /// Appends the result of filters for a cell, escaped. The text is at the end of `bytes` from
    /// the first filter to the last.
    @inline(never)
    func appendFiltered(
        _ cell: UnsafeBufferPointer<UInt8>, _ range: TextRange, _ language: inout DeviceLanguage,
        to bytes: inout [UInt8]
    ) -> Failure.Kind? {
        let start = bytes.count
        var isMissing = Blank.isCell(escaped: cell)
        if !isMissing { appendUnescaped(cell, to: &bytes) }
        for index in Int(range.start)..<Int(range.end) {
            let filter = filters[index]
            if filter.kind == .fallback {
                if isMissing { literals.withUnsafeBufferPointer { bytes.append(contentsOf: $0[filter.text]) } }
                isMissing = false
            } else if bytes.count > start, let kind = apply(filter, &language, to: &bytes, from: start) {
                return kind
            }
        }
        if isMissing { return .blank }
        escapeInPlace(&bytes, from: start)
        return nil
    }

    @inline(__always)
    private func apply(
        _ filter: CompiledFilter, _ language: inout DeviceLanguage, to bytes: inout [UInt8], from start: Int
    ) -> Failure.Kind? {
        switch filter.kind {
        case .fallback: break
        case .upcase: CaseMapping.apply(.upper, language: language.table(), to: &bytes, from: start)
        case .downcase: CaseMapping.apply(.lower, language: language.table(), to: &bytes, from: start)
        case .capitalize: CaseMapping.apply(.capitalized, language: language.table(), to: &bytes, from: start)
        case .strip: strip(&bytes, from: start)
        case .truncate: truncate(filter, bytes: &bytes, from: start)
        case .namedDate, .date: return writeDate(filter, language: language.table(), bytes: &bytes, from: start)
        case .number:
            return writeNumber(decimals: Int(filter.number), language: language.table(), bytes: &bytes, from: start)
                ? nil : .notANumber
        case .pluralize:
            return pluralize(plurals[Int(filter.number)], language: language.table(), bytes: &bytes, from: start)
                ? nil : .notANumber
        }
        return nil
    }

    // MARK: - Strip and truncate

    /// Removes white space, control characters and zero-width spaces at both ends.
    private func strip(_ bytes: inout [UInt8], from start: Int) {
        var end = bytes.count
        while end > start {
            var first = end - 1
            while first > start, bytes[first] & 0xC0 == 0x80 { first -= 1 }
            guard isSpace(scalar(in: bytes, at: first).scalar) else { break }
            end = first
        }
        if end < bytes.count { bytes.removeSubrange(end...) }
        var first = start
        while first < end {
            let (scalar, length) = scalar(in: bytes, at: first)
            guard isSpace(scalar) else { break }
            first += length
        }
        if first > start { bytes.removeSubrange(start..<first) }
    }

    private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value <= 0x20 || scalar.value == 0x7F }
        return scalar.value == 0x200B || scalar.value == 0xFEFF || scalar.properties.isWhitespace
    }

    /// Cuts a text that has more user-visible characters than `filter.number`. Source: Liquid's
    /// `truncate`, which counts the ellipsis.
    private func truncate(_ filter: CompiledFilter, bytes: inout [UInt8], from start: Int) {
        let (limit, kept) = (Int(filter.number), Int(filter.number - filter.other))
        // No character is shorter than a byte.
        guard bytes.count - start > limit else { return }
        guard let end = cut(bytes, from: start, limit: limit, kept: kept) else { return }
        bytes.removeSubrange(end...)
        literals.withUnsafeBufferPointer { bytes.append(contentsOf: $0[filter.text]) }
    }

    /// Where the kept characters end; nil if there are no more than `limit`.
    private func cut(_ bytes: [UInt8], from start: Int, limit: Int, kept: Int) -> Int? {
        var allBits: UInt8 = 0
        var hasReturn = false
        for index in start..<bytes.count {
            allBits |= bytes[index]
            if bytes[index] == 0x0D { hasReturn = true }
        }
        // In ASCII only CR LF is one character of two bytes.
        if allBits < 0x80, !hasReturn { return start + kept }
        let text = UTF8Span(unchecked: bytes.span.extracting(start...), isKnownASCII: false)
        var characters = text.makeCharacterIterator()
        var end = start
        for count in 0...limit {
            if count == kept { end = start + characters.currentCodeUnitOffset }
            guard characters.skipForward() > 0 else { return nil }
        }
        return end
    }

    // MARK: - Pluralize

    /// Replaces a number with a word; false if it is not a number.
    private func pluralize(_ plural: CompiledPlural, language: Int, bytes: inout [UInt8], from start: Int) -> Bool {
        let form: PluralForm? = bytes.withUnsafeBufferPointer { all in
            guard let number = DecimalText(UnsafeBufferPointer(rebasing: all[start...])) else { return nil }
            if plural.isPair { return number.isOne ? .one : .other }
            return number.pluralOperands.form(Self.rule(for: plural.written, language: language))
        }
        guard let form else { return false }
        bytes.removeSubrange(start...)
        literals.withUnsafeBufferPointer { bytes.append(contentsOf: $0[plural.words[form.rawValue]]) }
        return true
    }

    /// The rule of the device's language if the words can be of that language, otherwise English's.
    /// Words for only one and other, as in English and German, are not Russian, which has more
    /// forms, and not Japanese, which has fewer.
    private static func rule(for written: UInt8, language: Int) -> Int {
        let tables = LanguageTables.shared
        let rule = tables.languages[language].pluralRule
        let (all, usual) = PluralOperands.formBits[rule]
        let isPlain = written & ~PluralOperands.plainForms == 0
        if written & ~all == 0, !isPlain || usual & ~written == 0 { return rule }
        return tables.languages[tables.fallback].pluralRule
    }
}

extension PluralOperands {
    /// For each rule: a bit for every form that it distinguishes, and for each form of whole
    /// numbers below a million.
    static let formBits: [(all: UInt8, usual: UInt8)] = zip(allForms, usualForms).map { (bits($0), bits($1)) }
    /// one and other
    static let plainForms = bits([.one, .other])

    static func bits(_ forms: some Sequence<PluralForm>) -> UInt8 { forms.reduce(0) { $0 | 1 << UInt8($1.rawValue) } }
}

/// The scalar at an index of valid UTF-8, and its bytes.
@inline(__always) func scalar(in bytes: [UInt8], at index: Int) -> (scalar: Unicode.Scalar, length: Int) {
    let first = UInt32(bytes[index])
    if first < 0x80 { return (Unicode.Scalar(UInt8(first)), 1) }
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    var value = first & (length == 2 ? 0x1F : length == 3 ? 0x0F : 0x07)
    for offset in 1..<length where index + offset < bytes.count {
        value = value << 6 | UInt32(bytes[index + offset] & 0x3F)
    }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
}

/// Appends the text of a cell that `JSONWriter` escaped.
func appendUnescaped(_ cell: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    let backslash = UInt8(ascii: "\\")
    var clean = 0
    while let place = cell[clean...].firstIndex(of: backslash) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: cell[clean..<place]))
        let escaped = cell[place + 1]
        clean = place + 2
        switch escaped {
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            bytes.append(hexDigit(cell[place + 4]) << 4 | hexDigit(cell[place + 5]))
            clean = place + 6
        default: bytes.append(escaped)
        }
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: cell[clean...]))
}

private func hexDigit(_ byte: UInt8) -> UInt8 {
    byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : byte - UInt8(ascii: "a") + 10
}

/// Escapes the bytes from `start` on, as `JSONWriter` does.
func escapeInPlace(_ bytes: inout [UInt8], from start: Int) {
    var growth = 0
    for index in start..<bytes.count { growth += escapedLength(bytes[index]) - 1 }
    guard growth > 0 else { return }
    // From the end, so that nothing is overwritten before it is read.
    var source = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: growth))
    var target = bytes.count
    let hex = UInt8(ascii: "0")
    while source > start {
        source -= 1
        let byte = bytes[source]
        let length = escapedLength(byte)
        target -= length
        switch length {
        case 1: bytes[target] = byte
        case 2:
            bytes[target] = UInt8(ascii: "\\")
            bytes[target + 1] =
                switch byte {
                case 0x0A: UInt8(ascii: "n")
                case 0x0D: UInt8(ascii: "r")
                case 0x09: UInt8(ascii: "t")
                default: byte
                }
        default:
            bytes[target] = UInt8(ascii: "\\")
            bytes[target + 1] = UInt8(ascii: "u")
            (bytes[target + 2], bytes[target + 3], bytes[target + 4]) = (hex, hex, hex + (byte >> 4))
            bytes[target + 5] = byte & 15 < 10 ? hex + (byte & 15) : UInt8(ascii: "a") + (byte & 15) - 10
        }
    }
}

@inline(__always) private func escapedLength(_ byte: UInt8) -> Int {
    if byte >= 0x20 { return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1 }
    return byte == 0x0A || byte == 0x0D || byte == 0x09 ? 2 : 6
}
