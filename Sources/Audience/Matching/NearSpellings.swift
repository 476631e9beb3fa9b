import Base

/// Finds texts that differ from the names of a table in capitals and blanks only.
struct NearSpellings: Sendable {
    /// Bit n: a name begins with a byte whose lower five bits are n, which are the same for a small and a capital letter.
    private let firstBytes: UInt32
    /// Of each name the first bytes, as far as they are ASCII without blanks, eight at most: without the bit that capitals lack.
    private let openings: [Opening]
    /// The numbers of the names, without blanks and in small letters.
    private let folded: [String: Int]

    private struct Opening: Sendable {
        var word: UInt64
        var mask: UInt64
    }

    /// A longer list of names is one that a program wrote.
    private static let mostNames = 1_000

    init(_ names: [String]) {
        var (firstBytes, openings, folded) = (UInt32(0), [Opening](), [String: Int]())
        for (number, name) in names.enumerated() where names.count <= Self.mostNames {
            folded[Self.folded(name)] = folded[Self.folded(name)] ?? number
            guard let first = name.utf8.first else { continue }
            firstBytes |= 1 << UInt32(first & 0x1F)
            var opening = Opening(word: 0, mask: 0)
            for (place, byte) in name.utf8.prefix(8).prefix(while: { $0 > 0x20 && $0 < 0x80 }).enumerated() {
                opening.mask |= 0xDF << UInt64(8 * place)
                opening.word |= UInt64(byte & 0xDF) << UInt64(8 * place)
            }
            openings.append(opening)
        }
        (self.firstBytes, self.openings, self.folded) = (firstBytes, openings, folded)
    }

    /// Whether a text begins as one of the names does, but for capitals. Most do not, after a single look.
    /// - Parameter text: not empty; `NameTable.slack` bytes behind it can be read.
    @inline(__always) func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        firstBytes >> UInt32(text[0] & 0x1F) & 1 != 0 && begins(text)
    }

    private func begins(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = UnsafeRawBufferPointer(text).baseAddress else { return false }
        let word = UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
        return openings.contains { word & $0.mask == $0.word }
    }

    /// The number of the name that a text is but for capitals and blanks.
    func number(of text: String) -> Int? { folded[Self.folded(text)] }

    private static func folded(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in text.lowercased().unicodeScalars where !scalar.properties.isWhitespace && scalar.properties.generalCategory != .format
        {
            kept.append(scalar)
        }
        return String(kept)
    }
}
