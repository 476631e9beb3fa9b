/// A list written as text in a cell of tags: JSON (`["a", "b"]`), what Python prints (`['a', 'b']`)
/// or PostgreSQL (`{a,"b c"}`).
///
/// One for each thread: what a cell holds stays valid until the next one is read.
final class TagListText {
    private var texts: [UInt8] = []
    private var parts: [Range<Int>] = []
    private let separator: [UInt8]

    /// - Parameter separator: of tags in other cells. A list that has it within elements, without
    ///   quotes, may not be a list.
    init(separator: [UInt8]) { self.separator = separator }

    /// Whether a cell may be a list.
    @inline(__always) static func mayBe(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        // [ and { differ in this bit only, and ; with it is a different character.
        guard let first = cell.first else { return false }
        return first | 0x20 == UInt8(ascii: "{")
    }

    /// Reads a cell.
    /// - Returns: false when it is not, or may not be, a list.
    func read(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        texts.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        guard cell.count >= 2, cell.last == (cell[0] == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        else { return false }
        let inside = trimmed(UnsafeBufferPointer(rebasing: cell[1..<cell.count - 1]))
        if inside.isEmpty { return true }
        var place = 0
        while true {
            while place < inside.count, isSpace(inside[place]) { place += 1 }
            guard place < inside.count, let end = element(inside, from: place) else { return false }
            place = end
            while place < inside.count, isSpace(inside[place]) { place += 1 }
            if place == inside.count { break }
            guard inside[place] == UInt8(ascii: ",") else { return false }
            place += 1
        }
        texts.append(contentsOf: repeatElement(0, count: 64))
        return true
    }

    /// Calls `body` with each element; bytes after it are readable as after a cell.
    func forEach(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        texts.withUnsafeBufferPointer { texts in
            for part in parts { body(trimmed(UnsafeBufferPointer(rebasing: texts[part]))) }
        }
    }

    /// Takes the element that begins at a place.
    /// - Returns: the place after it; nil when it is not an element.
    private func element(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let quote = text[start]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return plainElement(text, from: start) }
        var end = start + 1
        while end < text.count, text[end] != quote { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
        guard end < text.count, let base = text.baseAddress else { return nil }
        let first = texts.count
        texts.append(contentsOf: text[(start + 1)..<end])
        if texts[first...].contains(UInt8(ascii: "\\")) {
            guard Self.hasKnownEscapes(text[(start + 1)..<end]) else { return nil }
            let count = texts.withUnsafeMutableBufferPointer { target in
                target.baseAddress.map { unescapeJSON(base + start + 1, count: end - start - 1, into: $0 + first) } ?? 0
            }
            texts.removeSubrange((first + count)...)
        }
        parts.append(first..<texts.count)
        return end + 1
    }

    /// Without quotes: it must not contain anything that another notation might use.
    private func plainElement(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let end = text[start...].firstIndex(of: UInt8(ascii: ",")) ?? text.count
        let plain = trimmed(UnsafeBufferPointer(rebasing: text[start..<end]))
        guard !plain.isEmpty, !plain.contains(where: { "[]{}\"'\\".utf8.contains($0) }), !holdsSeparator(plain) else {
            return nil
        }
        // The null values of both notations.
        guard !plain.elementsEqual("null".utf8), !plain.elementsEqual("NULL".utf8), !plain.elementsEqual("None".utf8)
        else { return end }
        parts.append(texts.count..<texts.count + plain.count)
        texts.append(contentsOf: plain)
        return end
    }

    private func holdsSeparator(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = separator.first, text.count >= separator.count else { return false }
        return text.indices.contains { text[$0] == first && text[$0...].starts(with: separator) }
    }

    private static func hasKnownEscapes(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = text
        while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
            guard backslash + 1 < rest.endIndex else { return false }
            let letter = rest[backslash + 1]
            guard "\"'\\/bfnrtu".utf8.contains(letter) else { return false }
            var next = backslash + 2
            if letter == UInt8(ascii: "u") {
                let digits = rest[next...].prefix(4)
                // Half of a surrogate pair needs its other half; no tag is written that way.
                guard digits.count == 4, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                    code != 0,
                    code & 0xF800 != 0xD800
                else { return false }
                next += 4
            }
            rest = rest[next...]
        }
        return true
    }
}
