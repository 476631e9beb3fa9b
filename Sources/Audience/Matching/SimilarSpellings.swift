import Base

/// Finds texts that differ from the names of a table only in details that people overlook (`Spelling`): tags, aliases, registration ids, and
/// values of conditions.
struct SimilarSpellings: Sendable {
    /// Bit n: a name begins with a byte whose lower five bits are n, which are the same for a small and a capital letter.
    private let firstBytes: UInt32
    /// The first bytes of each name, as far as they are letters or digits, at most eight, without the bit that distinguishes case.
    private let openings: [Opening]
    /// The numbers of the names, by their folded spelling (`Spelling`).
    private let folded: [String: Int]
    private let names: [String]
    /// By outline, the number of the last name that has it; and by number, that of the one before it, or -1.
    private let last: [UInt64: Int32]
    private let earlier: [Int32]
    /// Whether a text without any sign may be one of the names, as these have signs.
    private let areDisguised: Bool

    private struct Opening: Sendable {
        var word: UInt64
        var mask: UInt64
    }

    /// A program wrote any longer list of names: it spells them in one way.
    private static let mostNames = 1_000

    /// - Parameter ignoresCase: whether a text that begins like a name is examined, as it may differ in capitals or hyphens. Ids have none.
    init(_ names: [String], ignoresCase: Bool = true) {
        var (firstBytes, openings, folded) = (UInt32(0), [Opening](), [String: Int]())
        for (number, name) in names.enumerated() where names.count <= Self.mostNames {
            let form = Spelling.folded(name)
            if !form.isEmpty { folded[form] = folded[form] ?? number }
            guard ignoresCase, let first = name.utf8.first else { continue }
            firstBytes |= 1 << UInt32(first & 0x1F)
            var opening = Opening(word: 0, mask: 0)
            for (place, byte) in Self.opening(name).enumerated() {
                opening.mask |= 0xDF << UInt64(8 * place)
                opening.word |= UInt64(byte & 0xDF) << UInt64(8 * place)
            }
            openings.append(opening)
        }
        var (last, earlier, areDisguised) = ([UInt64: Int32](), [Int32](), false)
        last.reserveCapacity(names.count)
        for (number, name) in names.enumerated() {
            let (outline, isDisguised) = Self.outline(name)
            earlier.append(last.updateValue(Int32(truncatingIfNeeded: number), forKey: outline) ?? -1)
            areDisguised = areDisguised || isDisguised
        }
        (self.firstBytes, self.openings, self.folded) = (firstBytes, openings, folded)
        (self.names, self.last, self.earlier, self.areDisguised) = (names, last, earlier, areDisguised)
    }

    private static func outline(_ name: String) -> (outline: UInt64, isDisguised: Bool) {
        (Array(name.utf8) + [UInt8](repeating: 0, count: NameTable.slack)).withUnsafeBufferPointer {
            let text = UnsafeBufferPointer(rebasing: $0.dropLast(NameTable.slack))
            return (Spelling.outline(text), Spelling.mayBeDisguised(text))
        }
    }

    /// Whether a text begins like one of the names, ignoring case, or is one without its signs. A single check rules out most texts.
    /// - Parameter text: not empty; `NameTable.slack` bytes after it are readable.
    @inline(__always) func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        firstBytes >> UInt32(text[0] & 0x1F) & 1 != 0 && begins(text) || areDisguised && hasOutline(text)
    }

    /// The same, also for a text with quotes, invisible characters or letters of another script.
    /// - Parameter text: not empty; `NameTable.slack` bytes after it are readable.
    @inline(__always) func mayHoldDisguised(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        mayHold(text) || !areDisguised && Spelling.mayBeDisguised(text) && hasOutline(text)
    }

    /// Whether a name begins with a byte, ignoring case.
    @inline(__always) func mayBegin(with byte: UInt8) -> Bool { firstBytes >> UInt32(byte & 0x1F) & 1 != 0 }

    @inline(never) private func hasOutline(_ text: UnsafeBufferPointer<UInt8>) -> Bool { last[Spelling.outline(text)] != nil }

    /// Hyphens and the like are ignored, so a check of two letters would be too strict.
    private static func opening(_ name: String) -> some Collection<UInt8> {
        let text = name.utf8.prefix(8).prefix { $0 > 0x20 && $0 < 0x80 }
        let word = text.prefix { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 <= 9 }
        return word.count < 3 ? text : word
    }

    private func begins(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = UnsafeRawBufferPointer(text).baseAddress else { return false }
        let word = UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
        return openings.contains { word & $0.mask == $0.word }
    }

    /// The number of the name that a text equals apart from details that people overlook.
    func number(of text: String) -> Int? {
        if let number = folded[Spelling.folded(text)] { return number }
        let plain = Spelling.plain(text)
        guard !plain.isEmpty else { return nil }
        var number = last[Self.outline(text).outline] ?? -1
        while number >= 0 {
            if Spelling.plain(names[Int(number)]) == plain { return Int(number) }
            number = earlier[Int(number)]
        }
        return nil
    }
}
