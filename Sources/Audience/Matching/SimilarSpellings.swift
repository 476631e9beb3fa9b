import Base

/// Finds texts that differ from the names of a table only in details that people overlook (`Spelling`).
struct SimilarSpellings: Sendable {
    /// Bit n: a name begins with a byte whose lower five bits are n, which are the same for a small and a capital letter.
    private let firstBytes: UInt32
    /// The first bytes of each name, as far as they are letters or digits, at most eight, without the bit that distinguishes case.
    private let openings: [Opening]
    /// The numbers of the names, by their folded spelling (`Spelling`).
    private let folded: [String: Int]

    private struct Opening: Sendable {
        var word: UInt64
        var mask: UInt64
    }

    /// A program wrote any longer list of names.
    private static let mostNames = 1_000

    init(_ names: [String]) {
        var (firstBytes, openings, folded) = (UInt32(0), [Opening](), [String: Int]())
        for (number, name) in names.enumerated() where names.count <= Self.mostNames {
            let form = Spelling.folded(name)
            if !form.isEmpty { folded[form] = folded[form] ?? number }
            guard let first = name.utf8.first else { continue }
            firstBytes |= 1 << UInt32(first & 0x1F)
            var opening = Opening(word: 0, mask: 0)
            for (place, byte) in Self.opening(name).enumerated() {
                opening.mask |= 0xDF << UInt64(8 * place)
                opening.word |= UInt64(byte & 0xDF) << UInt64(8 * place)
            }
            openings.append(opening)
        }
        self.firstBytes = firstBytes
        self.openings = openings
        self.folded = folded
    }

    /// Whether a text begins like one of the names, ignoring case. A single check rules out most texts.
    /// - Parameter text: not empty; `NameTable.slack` bytes after it are readable.
    @inline(__always) func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        firstBytes >> UInt32(text[0] & 0x1F) & 1 != 0 && begins(text)
    }

    /// Whether a name begins with a byte, ignoring case.
    @inline(__always) func mayBegin(with byte: UInt8) -> Bool { firstBytes >> UInt32(byte & 0x1F) & 1 != 0 }

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
    func number(of text: String) -> Int? { folded[Spelling.folded(text)] }
}
