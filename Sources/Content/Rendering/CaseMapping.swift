/// Upper and lower case, in all of Unicode. Source: Unicode's SpecialCasing.txt, and CLDR for Greek
/// capitals and the Dutch IJ.
enum CaseMapping {
    enum Target { case upper, lower, capitalized }

    /// Maps the text in `bytes` from `start` on.
    /// - Parameter language: an index into `LanguageTables.shared`.
    static func apply(_ target: Target, language: Int, to bytes: inout [UInt8], from start: Int) {
        let casing = LanguageTables.shared.languages[language].casing
        if casing != .turkic, !(casing == .dutch && target == .capitalized),
            mapASCII(target, bytes: &bytes, from: start)
        {
            return
        }
        UnicodeMapper(casing: casing, target: target, start: start, end: bytes.count).map(&bytes)
    }

    /// False, with nothing changed, if the text is not ASCII only.
    @inline(__always) private static func mapASCII(_ target: Target, bytes: inout [UInt8], from start: Int) -> Bool {
        bytes.withUnsafeMutableBufferPointer { all in
            let text = UnsafeMutableBufferPointer(rebasing: all[start...])
            var allBits: UInt8 = 0
            for index in text.indices { allBits |= text[index] }
            guard allBits < 0x80 else { return false }
            for index in text.indices {
                let letter = text[index] | 0x20
                guard letter &- UInt8(ascii: "a") < 26 else { continue }
                let isUpper = target == .upper || target == .capitalized && index == 0
                text[index] = isUpper ? letter & ~0x20 : letter
            }
            return true
        }
    }
}

/// The mappings of single characters below U+0590 (Latin, Greek, Cyrillic, Armenian) to one
/// character below U+0800, otherwise 0.
private struct SimpleMappings: Sendable {
    private let upper: [UInt16]
    private let lower: [UInt16]

    static let shared = SimpleMappings()

    private init() {
        func table(_ mapping: (Unicode.Scalar.Properties) -> String) -> [UInt16] {
            (0..<0x590).map { value in
                guard let scalar = Unicode.Scalar(UInt32(value)) else { return 0 }
                let mapped = Array(mapping(scalar.properties).unicodeScalars)
                // Title case has a form of its own (Dž), and so has a final sigma.
                let isSpecial =
                    scalar.properties.titlecaseMapping != scalar.properties.uppercaseMapping || scalar == "Σ"
                return mapped.count == 1 && !isSpecial && mapped[0].value < 0x800 ? UInt16(mapped[0].value) : 0
            }
        }
        upper = table(\.uppercaseMapping)
        lower = table(\.lowercaseMapping)
    }

    @inline(__always) func map(_ scalar: Unicode.Scalar, isUpper: Bool) -> UInt16 {
        scalar.value < 0x590 ? (isUpper ? upper : lower)[Int(scalar.value)] : 0
    }
}

/// Maps scalar by scalar. The result is appended after the text, which is removed at the end.
private struct UnicodeMapper {
    let casing: LanguageTable.Casing
    let target: CaseMapping.Target
    let start: Int
    /// The end of the text.
    let end: Int

    func map(_ bytes: inout [UInt8]) {
        let simple = SimpleMappings.shared
        var index = start
        while index < end {
            let (current, length) = scalar(in: bytes, at: index)
            let isUpper = target == .upper || target == .capitalized && index == start
            let mapped = casing == .common ? simple.map(current, isUpper: isUpper) : 0
            if mapped >= 0x80 {
                bytes.append(0xC0 | UInt8(truncatingIfNeeded: mapped >> 6))
                bytes.append(0x80 | UInt8(truncatingIfNeeded: mapped & 0x3F))
            } else if mapped > 0 {
                bytes.append(UInt8(truncatingIfNeeded: mapped))
            } else if current.value >= 0x2E80,
                current.value <= 0xA63F || current.value >= 0xAC00 && current.value <= 0xD7FF
            {
                // Han, Kana and Hangul have no case.
                for offset in 0..<length { bytes.append(bytes[index + offset]) }
            } else if isUpper {
                index += upper(current, at: index, bytes: &bytes)
            } else {
                index += lower(current, at: index, length: length, bytes: &bytes)
            }
            index += length
        }
        bytes.removeSubrange(start..<end)
    }

    /// - Returns: how many of the following bytes belong to it.
    private func upper(_ scalar: Unicode.Scalar, at index: Int, bytes: inout [UInt8]) -> Int {
        let isFirst = target == .capitalized
        if casing == .turkic, scalar == "i" {
            bytes.append(contentsOf: "İ".utf8)
        } else if isFirst, casing == .dutch, scalar == "i" || scalar == "I", index + 1 < end,
            bytes[index + 1] | 0x20 == UInt8(ascii: "j")
        {
            bytes.append(contentsOf: "IJ".utf8)
            return 1
        } else if casing == .greek, !isFirst, scalar == "\u{301}" {
            return 0
        } else if casing == .greek, !isFirst, let plain = Self.greekCapitals[scalar] {
            bytes.append(contentsOf: UTF8.encode(plain) ?? UTF8.encodedReplacementCharacter)
        } else {
            bytes.append(
                contentsOf: (isFirst ? scalar.properties.titlecaseMapping : scalar.properties.uppercaseMapping).utf8)
        }
        return 0
    }

    /// - Returns: how many of the following bytes belong to it.
    private func lower(_ scalar: Unicode.Scalar, at index: Int, length: Int, bytes: inout [UInt8]) -> Int {
        switch scalar {
        case "Σ" where isInWord(bytes, index: index) && !startsWord(bytes, next: index + length):
            bytes.append(contentsOf: "ς".utf8)
        case "I" where casing == .turkic:
            // A lower-case i already has the dot that follows.
            let isDotted = index + 2 < end && bytes[index + 1] == 0xCC && bytes[index + 2] == 0x87
            bytes.append(contentsOf: isDotted ? "i".utf8 : "ı".utf8)
            return isDotted ? 2 : 0
        case "İ" where casing == .turkic: bytes.append(UInt8(ascii: "i"))
        default: bytes.append(contentsOf: scalar.properties.lowercaseMapping.utf8)
        }
        return 0
    }

    /// Whether a letter comes before, ignoring marks.
    private func isInWord(_ bytes: [UInt8], index: Int) -> Bool {
        var index = index
        while index > start {
            index -= 1
            while index > start, bytes[index] & 0xC0 == 0x80 { index -= 1 }
            let current = scalar(in: bytes, at: index).scalar
            if current.properties.isCased { return true }
            guard current.properties.isCaseIgnorable else { return false }
        }
        return false
    }

    /// Whether a letter follows, ignoring marks.
    private func startsWord(_ bytes: [UInt8], next: Int) -> Bool {
        var index = next
        while index < end {
            let (current, length) = scalar(in: bytes, at: index)
            if current.properties.isCased { return true }
            guard current.properties.isCaseIgnorable else { return false }
            index += length
        }
        return false
    }

    /// Greek capitals are written without the accent.
    private static let greekCapitals: [Unicode.Scalar: Unicode.Scalar] = [
        "ά": "Α", "έ": "Ε", "ή": "Η", "ί": "Ι", "ό": "Ο", "ύ": "Υ", "ώ": "Ω", "ΐ": "Ϊ", "ΰ": "Ϋ", "Ά": "Α", "Έ": "Ε",
        "Ή": "Η", "Ί": "Ι",
        "Ό": "Ο", "Ύ": "Υ", "Ώ": "Ω",
    ]
}
