import Base
import PushServices

/// The names of a header, to recognise it when it appears again: `cat a.csv b.csv` leaves it among
/// the rows, and the rows after it may have its columns in another order.
struct HeaderNames: Sendable {
    private let names: [String]
    /// Bit n: the first field of a header may be n bytes long, or, of the last bit, longer.
    private let lengths: UInt64

    private static let quote = UInt8(ascii: "\"")

    /// nil where it does no harm, as with a single column, and where it is a row, not a header.
    init?(_ header: [String], _ targets: TargetForm) {
        guard header.count > 1, header.contains(where: { !$0.isEmpty }) else { return nil }
        guard !header.contains(where: { targets.recognizes($0) || $0.utf8.contains(Self.quote) }) else { return nil }
        names = header
        // As is, in quotes, after a byte order mark, next to a blank.
        lengths = header.reduce(0) { bits, name in
            (0...6).reduce(bits) { $0 | 1 << UInt64(min(name.utf8.count + $1, 63)) }
        }
    }

    /// How many fields a header has, and how many it has where it is appended to a row without a
    /// line end.
    @inline(__always) func mayHave(_ count: Int) -> Bool { count == names.count || count == 2 * names.count - 1 }

    /// Whether the first field of a row is one of the names; a single check answers false for most
    /// rows of most exports.
    @inline(__always) func isName(first field: UnsafeBufferPointer<UInt8>) -> Bool {
        lengths & (1 << UInt64(min(field.count, 63))) != 0 && isName(inside(field))
    }

    private func isName(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        names.contains { $0.utf8.count == text.count && $0.utf8.elementsEqual(text) }
    }

    /// Whether the fields of a row are the names in any order, or end with them, the first one
    /// appended to the last cell of another row.
    func end(_ fields: [UnsafeBufferPointer<UInt8>]) -> Bool {
        guard mayHave(fields.count), let first = fields.dropLast(names.count - 1).last else { return false }
        var missing = names.map { Array($0.utf8) }
        for field in fields.suffix(names.count - 1) {
            guard let place = missing.firstIndex(where: { $0.elementsEqual(trimmed(inside(field))) }) else {
                return false
            }
            missing.remove(at: place)
        }
        let start = inside(first)
        return fields.count == names.count
            ? missing[0].elementsEqual(start)
            : !missing[0].isEmpty && start.suffix(missing[0].count).elementsEqual(missing[0])
    }

    /// A field without byte order mark, blanks around it and quotes.
    private func inside(_ field: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let text = trimmed(UnsafeBufferPointer(rebasing: field.dropFirst(TextEncoding.markBytes(field))))
        guard text.count > 1, text.first == Self.quote, text.last == Self.quote else { return text }
        return UnsafeBufferPointer(rebasing: text[1..<text.count - 1])
    }
}
