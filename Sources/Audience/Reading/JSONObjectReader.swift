import Base
import Glibc

/// Why an object could not be read to its end.
enum JSONStop: Error {
    /// It is cut off at the end of the buffer.
    case incomplete
    /// It is not JSON at this place.
    case broken(offset: Int, message: String)
}

/// Reads one JSON object (RFC 8259) after another: finds the values of used keys, checks and skips
/// everything else.
///
/// Objects of an export usually have the same keys in the same order: the key that followed the
/// last one before is tried first.
struct JSONObjectReader {
    /// A key that was seen, and the cell that its value becomes.
    struct Key {
        var name: [UInt8]
        var cell: Int?
        /// The key that followed it the last time.
        var next: Int
    }

    /// How deep unused values may nest.
    static let maximumDepth = 64
    /// How many different keys are remembered; more only cost time.
    private static let maximumKeys = 1024

    private(set) var keys: [Key] = []
    private var firstKey = 0
    private let tagsCell: Int?
    /// Whether an object may be the value of a cell: a date, a reference, or anything else as its
    /// JSON.
    var hasTypedValues = false
    private let usedKeys: [[UInt8]]
    /// Objects so far that name a key twice; the last value counts.
    private(set) var objectsWithDuplicateKeys = 0
    /// Bit i: the current object has key i.
    private var firstKeysSeen: UInt64 = 0
    /// The same for keys beyond the first 64.
    private var laterKeysSeen: Set<Int> = []
    private var hasDuplicate = false
    /// Of the first 64 keys, those that differ from a used key only in details that people
    /// overlook: its bit, and the intended cell.
    private var lookalikes: [(bit: UInt64, cell: Int)] = []
    private var lookalikeBits: UInt64 = 0
    /// Objects so far that have such a key and not the used one, by key.
    private(set) var objectsWithLookalikes: [String: Int] = [:]
    /// The first thing that makes the current object unusable although it is JSON.
    private(set) var flaw: (offset: Int, message: String)?

    private var base: UnsafeMutablePointer<UInt8>
    private var position = 0
    private var limit = 0

    /// - Parameters:
    ///   - usedKeys: the keys of the values that become cells, in the order of the cells.
    ///   - tagsCell: the cell that may be an array.
    init(usedKeys: [String], tagsCell: Int?, base: UnsafeMutablePointer<UInt8>) {
        self.usedKeys = usedKeys.map { Array($0.utf8) }
        self.tagsCell = tagsCell
        self.base = base
    }

    /// Skips a value of any kind, as `read` does an object.
    mutating func skip(_ base: UnsafeMutablePointer<UInt8>, from start: Int, to limit: Int) throws(JSONStop) -> Int {
        self.base = base
        self.limit = limit
        position = start
        flaw = nil
        try skipValue(depth: 0, isFurther: true)
        return position
    }

    /// Skips a name and its value, as `read` reads an object.
    mutating func skipMember(_ base: UnsafeMutablePointer<UInt8>, from start: Int, to limit: Int) throws(JSONStop)
        -> Int
    {
        self.base = base
        self.limit = limit
        position = start
        flaw = nil
        try skipName()
        try skipValue(depth: 0)
        return position
    }

    /// Reads the object that starts at `start` and must not reach beyond `limit`.
    /// - Returns: the place after its closing brace.
    mutating func read(
        _ base: UnsafeMutablePointer<UInt8>, from start: Int, to limit: Int,
        into cells: UnsafeMutableBufferPointer<Cell>
    ) throws(JSONStop) -> Int {
        self.base = base
        self.limit = limit
        position = start + 1
        flaw = nil
        for cell in cells.indices { cells[cell] = Cell(base) }
        (firstKeysSeen, hasDuplicate) = (0, false)
        if !laterKeysSeen.isEmpty { laterKeysSeen.removeAll(keepingCapacity: true) }
        skipSpace()
        if try consume(UInt8(ascii: "}")) { return position }
        var (last, count) = (-1, 0)
        while true {
            let key = try readKey(after: last, isFurther: count > 0)
            count += 1
            skipSpace()
            guard try consume(UInt8(ascii: ":")) else { throw broken("expected ':'") }
            skipSpace()
            let cell = key < 0 ? -key - 2 : keys[key].cell ?? -1
            if cell >= 0 { cells[cell] = try readCell(isTags: cell == tagsCell) } else { try skipValue(depth: 1) }
            if key >= 0 {
                last = key
                noteKey(key)
            }
            skipSpace()
            if try consume(UInt8(ascii: ",")) {
                skipSpace()
                continue
            }
            guard try consume(UInt8(ascii: "}")) else { throw broken("expected ',' or '}'") }
            if hasDuplicate { objectsWithDuplicateKeys += 1 }
            if firstKeysSeen & lookalikeBits != 0 { noteLookalikes() }
            return position
        }
    }

    // MARK: - Keys

    @inline(__always) private mutating func noteKey(_ key: Int) {
        if key < 64 {
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: key)
            if firstKeysSeen & bit != 0 { hasDuplicate = true }
            firstKeysSeen |= bit
        } else if !laterKeysSeen.insert(key).inserted {
            hasDuplicate = true
        }
    }

    /// - Returns: the index of the key, or below zero for one that is not remembered: -1 for
    ///   unused, -2 - cell for a used one.
    private mutating func readKey(after last: Int, isFurther: Bool) throws(JSONStop) -> Int {
        guard try peek() == UInt8(ascii: "\"") else { throw try typo(isFurther ? .furtherName : .name) }
        let (start, count, isEscaped) = try readString()
        if !keys.isEmpty, !isEscaped {
            let guess = last < 0 ? firstKey : keys[last].next
            if equals(keys[guess].name, base + start, count: count) { return guess }
        }
        // Half of a surrogate pair cannot be unescaped; the row is unreadable anyway.
        if isEscaped, flaw != nil { return -1 }
        var name = Array(UnsafeBufferPointer(start: base + start, count: count))
        if isEscaped {
            let length = name.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.map { unescapeJSON($0, count: count, into: $0) } ?? 0
            }
            name.removeLast(count - length)
        }
        return remember(name, after: last)
    }

    private mutating func remember(_ name: [UInt8], after last: Int) -> Int {
        var index = keys.firstIndex { $0.name == name }
        if index == nil {
            let cell = usedKeys.firstIndex(of: name)
            guard keys.count < Self.maximumKeys else { return cell.map { -2 - $0 } ?? -1 }
            keys.append(Key(name: name, cell: cell, next: 0))
            index = keys.count - 1
            if cell == nil, keys.count <= 64 { noteLookalike(name, index: keys.count - 1) }
        }
        guard let index else { return -1 }
        if last < 0 { firstKey = index } else { keys[last].next = index }
        return index
    }

    /// Notes a key such as `Tags` or `tag` for `tags`.
    private mutating func noteLookalike(_ name: [UInt8], index: Int) {
        let form = Self.form(name)
        guard !form.isEmpty, let cell = usedKeys.firstIndex(where: { Self.form($0) == form }) else { return }
        lookalikes.append((1 << UInt64(index), cell))
        lookalikeBits |= 1 << UInt64(index)
    }

    private static func form(_ name: [UInt8]) -> String {
        let form = Spelling.folded(String(decoding: name, as: UTF8.self))
        return form.last == "s" ? String(form.dropLast()) : form
    }

    private mutating func noteLookalikes() {
        for (bit, cell) in lookalikes where firstKeysSeen & bit != 0 {
            let isThere = keys.prefix(64).indices.contains {
                keys[$0].cell == cell && firstKeysSeen >> UInt64($0) & 1 != 0
            }
            guard !isThere else { continue }
            objectsWithLookalikes[String(decoding: keys[bit.trailingZeroBitCount].name, as: UTF8.self), default: 0] += 1
        }
    }

    private func equals(_ name: [UInt8], _ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        name.count == count && memcmp(name, bytes, count) == 0
    }

    // MARK: - Values

    private mutating func readCell(isTags: Bool) throws(JSONStop) -> Cell {
        let start = position
        switch try peek() {
        case UInt8(ascii: "\""):
            let (start, count, isEscaped) = try readString()
            // Without escapes it holds no quote, so that it reads like a CSV cell without quotes.
            return Cell(base + start, count: count, form: isEscaped ? .escaped : .delimited)
        case UInt8(ascii: "n"):
            try skipValue(depth: 1)
            return Cell(base)
        case UInt8(ascii: "["):
            if isTags { return try readTags() }
            note("there is a list where a text is needed", at: start)
            try skipValue(depth: 1)
            return Cell(base)
        case UInt8(ascii: "{"):
            if hasTypedValues { return try readTypedValue() }
            note(
                isTags
                    ? "there is an object where tags are needed; write their names as a list, [\"a\", \"b\"]"
                    : "there is an object where a text is needed", at: start)
            try skipValue(depth: 1)
            return Cell(base)
        default:
            try skipValue(depth: 1)
            return Cell(base + start, count: position - start)
        }
    }

    /// Reads an object as LeanCloud writes values for which JSON has no notation. A date is its ISO
    /// text, a reference to another object is its id; everything else, such as a place or an object
    /// of the app's own, is its JSON.
    private mutating func readTypedValue() throws(JSONStop) -> Cell {
        let start = position
        var (type, iso, id): (Cell?, Cell?, Cell?)
        position += 1
        skipSpace()
        if try consume(UInt8(ascii: "}")) { return Cell(base) }
        var isFurther = false
        while true {
            let name = try skipName(isFurther: isFurther)
            isFurther = true
            if try isNext(UInt8(ascii: "\"")) {
                let (start, count, isEscaped) = try readString()
                let text = Cell(base + start, count: count, form: isEscaped ? .escaped : .delimited)
                if equals(name, "__type") {
                    type = text
                } else if equals(name, "iso") {
                    iso = text
                } else if equals(name, "objectId") {
                    id = text
                }
            } else {
                try skipValue(depth: 2)
            }
            skipSpace()
            if try consume(UInt8(ascii: ",")) { continue }
            guard try consume(UInt8(ascii: "}")) else { throw broken("expected ',' or '}'") }
            break
        }
        let value: Cell? =
            if let type, equals(type, "Date") {
                iso
            } else if let type, equals(type, "Pointer") {
                id
            } else {
                nil
            }
        return value ?? Cell(base + start, count: position - start)
    }

    private func equals(_ cell: Cell, _ text: StaticString) -> Bool {
        cell.count == text.utf8CodeUnitCount && memcmp(cell.start, text.utf8Start, cell.count) == 0
    }

    /// Skips a name, its colon, and the white space around them.
    /// - Returns: the name as it is written.
    @discardableResult
    private mutating func skipName(isFurther: Bool = false) throws(JSONStop) -> Cell {
        skipSpace()
        guard try peek() == UInt8(ascii: "\"") else { throw try typo(isFurther ? .furtherName : .name) }
        let (start, count, _) = try readString()
        skipSpace()
        guard try consume(UInt8(ascii: ":")) else { throw broken("expected ':'") }
        skipSpace()
        return Cell(base + start, count: count)
    }

    private mutating func readTags() throws(JSONStop) -> Cell {
        position += 1
        let start = position
        skipSpace()
        if try consume(UInt8(ascii: "]")) { return Cell(base) }
        var isFurther = false
        while true {
            skipSpace()
            let byte = try peek()
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
                note("a tag is a list or an object; write its name as a text", at: position)
            }
            try skipValue(depth: 2, isFurther: isFurther)
            skipSpace()
            isFurther = true
            if try consume(UInt8(ascii: ",")) { continue }
            let end = position
            guard try consume(UInt8(ascii: "]")) else { throw broken("expected ',' or ']'") }
            return Cell(base + start, count: end - start, form: hasTypedValues ? .arrayOfTexts : .array)
        }
    }

    /// Skips one value, checking that it is JSON.
    /// - Parameter isFurther: after a comma in an array.
    private mutating func skipValue(depth: Int, isFurther: Bool = false) throws(JSONStop) {
        switch try peek() {
        case UInt8(ascii: "\""): _ = try readString()
        case UInt8(ascii: "t"): try skipWord("true")
        case UInt8(ascii: "f"): try skipWord("false")
        case UInt8(ascii: "n"): try skipWord("null")
        case UInt8(ascii: "["): try skipNested(depth: depth, closing: UInt8(ascii: "]"), hasNames: false)
        case UInt8(ascii: "{"): try skipNested(depth: depth, closing: UInt8(ascii: "}"), hasNames: true)
        case UInt8(ascii: "]") where isFurther: throw try typo(.furtherValue)
        default: try skipNumber()
        }
    }

    private mutating func skipNested(depth: Int, closing: UInt8, hasNames: Bool) throws(JSONStop) {
        guard depth < Self.maximumDepth else { throw broken("nested deeper than \(Self.maximumDepth) levels") }
        position += 1
        skipSpace()
        if try consume(closing) { return }
        var isFurther = false
        while true {
            if hasNames { try skipName(isFurther: isFurther) } else { skipSpace() }
            try skipValue(depth: depth + 1, isFurther: isFurther && !hasNames)
            skipSpace()
            isFurther = true
            if try consume(UInt8(ascii: ",")) { continue }
            guard try consume(closing) else { throw broken("expected ',' or '\(Character(Unicode.Scalar(closing)))'") }
            return
        }
    }

    private mutating func skipWord(_ word: StaticString) throws(JSONStop) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[index] else { throw try typo(.value, at: start) }
            position += 1
        }
    }

    private mutating func skipNumber() throws(JSONStop) {
        let start = position
        if try peek() == UInt8(ascii: "-") { position += 1 }
        let first = try peek()
        let count = skipDigits()
        guard count > 0 else { throw try typo(.value, at: start) }
        // A zero in front of other digits, or of the x of a hexadecimal number.
        if first == UInt8(ascii: "0") {
            let isHexadecimal = try peek() | 0x20 == UInt8(ascii: "x")
            if count > 1 || isHexadecimal { throw try typo(.value, at: start) }
        }
        if try isNext(UInt8(ascii: ".")) {
            position += 1
            guard skipDigits() > 0 else { throw try typo(.value, at: start) }
        }
        if try peek() | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try peek()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            guard skipDigits() > 0 else { throw try typo(.value, at: start) }
        }
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while position < limit, base[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        return position - start
    }

    /// Skips a string from quote to quote.
    private mutating func readString() throws(JSONStop) -> (start: Int, count: Int, isEscaped: Bool) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            position = endOfPlainJSON(base + position) - UnsafePointer(base)
            switch try peek() {
            case UInt8(ascii: "\""):
                position += 1
                return (start, position - 1 - start, isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try skipEscape()
            default: throw broken("there is a control character inside a text")
            }
        }
    }

    private mutating func skipEscape() throws(JSONStop) {
        let start = position
        position += 1
        let letter = try peek()
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"): break
        default: throw .broken(offset: start, message: "an unknown escape")
        }
        let code = try skipHexQuad()
        if code == 0 { note("a text contains a NUL character", at: start) }
        if code & 0xFC00 == 0xDC00 { note("half of a surrogate pair", at: start) }
        guard code & 0xFC00 == 0xD800 else { return }
        guard try peek() == UInt8(ascii: "\\"), try peek(1) == UInt8(ascii: "u") else {
            return note("half of a surrogate pair", at: start)
        }
        let before = position
        position += 2
        if try skipHexQuad() & 0xFC00 != 0xDC00 {
            note("half of a surrogate pair", at: start)
            position = before
        }
    }

    private mutating func skipHexQuad() throws(JSONStop) -> UInt32 {
        let start = position
        for _ in 0..<4 {
            let byte = try peek()
            guard byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 <= 5 else { throw broken("expected four hex digits") }
            position += 1
        }
        return hexQuad(base + start)
    }

    // MARK: - Bytes

    private mutating func skipSpace() {
        while position < limit, isSpace(base[position]) { position += 1 }
    }

    private func peek(_ ahead: Int = 0) throws(JSONStop) -> UInt8 {
        guard position + ahead < limit else { throw .incomplete }
        return base[position + ahead]
    }

    private func isNext(_ byte: UInt8) throws(JSONStop) -> Bool { try peek() == byte }

    private mutating func consume(_ byte: UInt8) throws(JSONStop) -> Bool {
        guard try peek() == byte else { return false }
        position += 1
        return true
    }

    private mutating func note(_ message: String, at offset: Int) {
        if flaw == nil { flaw = (offset, message) }
    }

    private func broken(_ message: String) -> JSONStop { .broken(offset: position, message: message) }

    /// What is written where something else is needed. A word that reaches the end of what is in
    /// memory may continue there.
    private func typo(_ need: JSONTypo.Need, at place: Int? = nil) throws(JSONStop) -> JSONStop {
        let start = place ?? position
        guard start < limit else { throw .incomplete }
        let isSign = ",]}".utf8.contains(base[start])
        var end = start
        while end < limit, end - start < JSONTypo.mostBytes, end == start || JSONTypo.continues(base[end]) { end += 1 }
        guard end < limit || isSign || end - start == JSONTypo.mostBytes else { throw .incomplete }
        let text = UnsafeBufferPointer(start: base + start, count: end - start)
        return .broken(offset: start, message: JSONTypo.words(text, for: need))
    }
}
