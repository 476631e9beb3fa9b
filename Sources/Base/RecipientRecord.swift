/// A device that a campaign goes to, as bytes: a scan passes it on without making strings. Valid only during the call that receives it.
public struct RecipientRecord {
    /// Lower-case hex digits.
    public var token: UnsafeBufferPointer<UInt8>
    /// Blank if the export has none.
    public var registrationID: UnsafeBufferPointer<UInt8>
    /// Blank if the export has none.
    public var alias: UnsafeBufferPointer<UInt8>
    /// Blank if the export has none.
    public var language: UnsafeBufferPointer<UInt8>
    /// The cells that templates need: a JSON array of strings in the form that `EscapedCells` takes.
    public var fields: UnsafeBufferPointer<UInt8>
}

/// Recipients in one piece of memory, each with the slot that a scan assigned.
public struct RecipientBatch: Sendable {
    /// The texts of a recipient, in the order in which they are appended.
    public enum Part: Sendable {
        case token, registrationID, alias, language, fields
    }

    /// The ends of a recipient's texts in `bytes`. They are below 4 GB, the limit of a block.
    private struct Ends: BitwiseCopyable {
        var token: UInt32 = 0, registrationID: UInt32 = 0, alias: UInt32 = 0, language: UInt32 = 0, fields: UInt32 = 0
    }

    private var slots: [Int] = []
    private var ends: [Ends] = []
    /// The last recipient's texts, while they are appended.
    private var open = Ends()

    /// All texts, one after the other: append a part's bytes here, then call `end`.
    public var bytes: [UInt8] = []

    /// An empty batch.
    public init() {}

    /// The number of recipients, including those without a slot.
    public var count: Int { ends.count }

    /// Marks the end of a part whose bytes were appended. After the last part the recipient is complete, and has no slot yet.
    public mutating func end(_ part: Part) {
        let end = UInt32(bytes.count)
        switch part {
        case .token: open.token = end
        case .registrationID: open.registrationID = end
        case .alias: open.alias = end
        case .language: open.language = end
        case .fields:
            open.fields = end
            ends.append(open)
            slots.append(-1)
        }
    }

    /// Adds a recipient with its slot. NUL is replaced, because many programs end a text there.
    public mutating func append(_ recipient: Recipient, at slot: Int) {
        for (part, text) in [
            (Part.token, recipient.token.text), (.registrationID, recipient.registrationID), (.alias, recipient.alias),
            (.language, recipient.language),
        ] {
            bytes.append(contentsOf: text.utf8.contains(0) ? Array(text.replacing("\0", with: "\u{FFFD}").utf8) : Array(text.utf8))
            end(part)
        }
        JSONValue.array(recipient.fields.map(JSONValue.string)).append(to: &bytes)
        end(.fields)
        setSlot(slot, of: count - 1)
    }

    /// Removes the last recipient.
    public mutating func removeLast() {
        ends.removeLast()
        slots.removeLast()
        bytes.removeSubrange(Int(ends.last?.fields ?? 0)...)
    }

    /// Gives a recipient its slot; a recipient without one is left out.
    public mutating func setSlot(_ slot: Int, of index: Int) { slots[index] = slot }

    /// Calls `body` with a recipient.
    public func withRecord<Result>(_ index: Int, _ body: (RecipientRecord) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { try body(record(index, in: $0)) }
    }

    /// Calls `body` with each recipient that has a slot, in order.
    public func forEach(_ body: (Int, RecipientRecord) throws -> Void) rethrows {
        try bytes.withUnsafeBufferPointer { bytes in
            for index in slots.indices where slots[index] >= 0 { try body(slots[index], record(index, in: bytes)) }
        }
    }

    /// Calls `body` with the recipients that have a slot, in order, in groups of `count`.
    public func forEachGroup(of count: Int, _ body: ([(slot: Int, recipient: RecipientRecord)]) throws -> Void) rethrows {
        var group: [(slot: Int, recipient: RecipientRecord)] = []
        group.reserveCapacity(count)
        try bytes.withUnsafeBufferPointer { bytes in
            for index in slots.indices where slots[index] >= 0 {
                group.append((slots[index], record(index, in: bytes)))
                guard group.count == count else { continue }
                try body(group)
                group.removeAll(keepingCapacity: true)
            }
            if !group.isEmpty { try body(group) }
        }
    }

    // MARK: - Storage

    /// Appends all texts, without slots, in the form that `init(stored:)` takes.
    public func store(into target: inout [UInt8]) {
        target.reserveCapacity(target.count + 4 + ends.count * MemoryLayout<Ends>.size + bytes.count)
        withUnsafeBytes(of: UInt32(count)) { target.append(contentsOf: $0) }
        ends.withUnsafeBytes { target.append(contentsOf: $0) }
        target.append(contentsOf: bytes)
    }

    /// Reads what `store(into:)` wrote in this process.
    public init(stored: [UInt8]) {
        stored.withUnsafeBytes { stored in
            let count = Int(stored.loadUnaligned(as: UInt32.self))
            let texts = 4 + count * MemoryLayout<Ends>.size
            ends = (0..<count).map { stored.loadUnaligned(fromByteOffset: 4 + $0 * MemoryLayout<Ends>.size, as: Ends.self) }
            bytes = Array(stored[texts...])
        }
        slots = Array(repeating: -1, count: ends.count)
        open = ends.last ?? Ends()
    }

    private func record(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> RecipientRecord {
        let start = index == 0 ? 0 : ends[index - 1].fields
        let ends = ends[index]
        func part(_ start: UInt32, end: UInt32) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)])
        }
        return RecipientRecord(
            token: part(start, end: ends.token), registrationID: part(ends.token, end: ends.registrationID),
            alias: part(ends.registrationID, end: ends.alias), language: part(ends.alias, end: ends.language),
            fields: part(ends.language, end: ends.fields))
    }
}

extension Recipient {
    /// The recipient that a record describes; nil if its fields are not a JSON array of strings.
    public init?(_ record: RecipientRecord) {
        guard case .array(let values)? = try? JSONValue(parsing: Array(record.fields)) else { return nil }
        func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        self.init(
            token: Target(normalized: text(record.token)), registrationID: text(record.registrationID), alias: text(record.alias),
            language: text(record.language), fields: values.compactMap(\.stringValue))
    }
}
