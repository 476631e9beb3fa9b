/// A device that a campaign goes to, as bytes: a scan passes it on without making strings. Valid
/// only during the call that receives it.
public struct RecipientRecord {
    /// Lower-case hex digits.
    public var token: UnsafeBufferPointer<UInt8>
    /// Blank if the export has none.
    public var registrationID: UnsafeBufferPointer<UInt8>
    /// Blank if the export has none.
    public var alias: UnsafeBufferPointer<UInt8>
    /// Blank if the export has none.
    public var language: UnsafeBufferPointer<UInt8>
    /// The cells that templates need: a JSON array of strings in the form that `EscapedCells`
    /// takes.
    public var fields: UnsafeBufferPointer<UInt8>
    /// The number of the service that takes its push, among those of the run; 0 when there is one.
    public var service: UInt8
}

/// Recipients in one piece of memory, each with the slot that a scan assigned.
///
/// ```swift
/// var batch = RecipientBatch()
/// batch.append(Recipient(token: Target(normalized: "7f3a…"), language: "de"), at: 0)
/// batch.forEach { slot, recipient in print(slot, recipient.token.count) }
/// ```
public struct RecipientBatch: Sendable {
    /// The ends of a recipient's texts in the batch's bytes, in their order. They are below 4 GB,
    /// the limit of a block.
    public struct Ends: BitwiseCopyable, Sendable {
        fileprivate var token: UInt32
        fileprivate var registrationID: UInt32
        fileprivate var alias: UInt32
        fileprivate var language: UInt32
        fileprivate var fields: UInt32

        /// - Parameters: counts of the batch's bytes after each text was appended.
        public init(token: Int = 0, registrationID: Int = 0, alias: Int = 0, language: Int = 0, fields: Int = 0) {
            self.token = UInt32(token)
            self.registrationID = UInt32(registrationID)
            self.alias = UInt32(alias)
            self.language = UInt32(language)
            self.fields = UInt32(fields)
        }
    }

    private struct Entry: BitwiseCopyable {
        /// -1 for none.
        var slot: Int
        var ends: Ends
        var service: UInt8 = 0
    }

    private var entries: [Entry] = []

    /// All texts, one after the other: append a recipient's here in the order of `Ends`, then call
    /// `complete`.
    public var bytes: [UInt8] = []

    /// An empty batch.
    public init() {}

    /// The number of recipients, including those without a slot.
    public var count: Int { entries.count }

    /// Adds a recipient, without a slot, after its texts were appended to `bytes`.
    /// - Parameter service: the number of the service that takes its push.
    public mutating func complete(_ ends: Ends, service: UInt8 = 0) {
        entries.append(Entry(slot: -1, ends: ends, service: service))
    }

    /// Adds a recipient with its slot. NUL is replaced, because many programs end a text there.
    /// - Parameter service: the number of the service that takes its push.
    public mutating func append(_ recipient: Recipient, at slot: Int, service: UInt8 = 0) {
        func end(_ text: String) -> Int {
            bytes.append(
                contentsOf: text.utf8.contains(0)
                    ? Array(text.replacing(scalar: "\0", with: "\u{FFFD}").utf8) : Array(text.utf8))
            return bytes.count
        }
        var ends = Ends(
            token: end(recipient.token.text), registrationID: end(recipient.registrationID),
            alias: end(recipient.alias),
            language: end(recipient.language))
        JSONValue.array(recipient.fields.map(JSONValue.string)).append(to: &bytes)
        ends.fields = UInt32(bytes.count)
        entries.append(Entry(slot: slot, ends: ends, service: service))
    }

    /// Removes all recipients; their memory is kept for others.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Gives a recipient its slot; a recipient without one is left out.
    public mutating func setSlot(_ slot: Int, of index: Int) { entries[index].slot = slot }

    /// Gives a recipient the number of the service that takes its push.
    public mutating func setService(_ service: UInt8, of index: Int) { entries[index].service = service }

    /// Calls `body` with a recipient.
    public func withRecord<Result>(_ index: Int, _ body: (RecipientRecord) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { try body(record(index, in: $0)) }
    }

    /// Calls `body` with each recipient that has a slot, in order.
    public func forEach(_ body: (Int, RecipientRecord) throws -> Void) rethrows {
        try bytes.withUnsafeBufferPointer { bytes in
            for index in entries.indices where entries[index].slot >= 0 {
                try body(entries[index].slot, record(index, in: bytes))
            }
        }
    }

    /// Calls `body` with the recipients that have a slot, in order, in groups of `count`.
    public func forEachGroup(of count: Int, _ body: ([(slot: Int, recipient: RecipientRecord)]) throws -> Void) rethrows
    {
        var group: [(slot: Int, recipient: RecipientRecord)] = []
        group.reserveCapacity(count)
        try bytes.withUnsafeBufferPointer { bytes in
            for index in entries.indices where entries[index].slot >= 0 {
                group.append((entries[index].slot, record(index, in: bytes)))
                guard group.count == count else { continue }
                try body(group)
                group.removeAll(keepingCapacity: true)
            }
            if !group.isEmpty { try body(group) }
        }
    }

    // MARK: - Storage

    /// Appends all texts and services, without slots, in the form that `init(stored:)` takes. Where
    /// one service takes all, no byte is spent on services.
    public func store(into target: inout [UInt8]) {
        let hasServices = entries.contains { $0.service != 0 }
        target.reserveCapacity(
            target.count + 5 + count * (MemoryLayout<Ends>.size + (hasServices ? 1 : 0)) + bytes.count)
        withUnsafeBytes(of: UInt32(count)) { target.append(contentsOf: $0) }
        target.append(hasServices ? 1 : 0)
        for entry in entries { withUnsafeBytes(of: entry.ends) { target.append(contentsOf: $0) } }
        if hasServices { for entry in entries { target.append(entry.service) } }
        target.append(contentsOf: bytes)
    }

    /// Reads what `store(into:)` wrote in this process.
    public init(stored: [UInt8]) {
        stored.withUnsafeBytes { stored in
            let count = Int(stored.loadUnaligned(as: UInt32.self))
            let hasServices = stored[4] != 0
            let services = 5 + count * MemoryLayout<Ends>.size
            entries = (0..<count).map {
                Entry(
                    slot: -1,
                    ends: stored.loadUnaligned(fromByteOffset: 5 + $0 * MemoryLayout<Ends>.size, as: Ends.self),
                    service: hasServices ? stored[services + $0] : 0)
            }
            bytes = Array(stored[(services + (hasServices ? count : 0))...])
        }
    }

    private func record(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> RecipientRecord {
        let start = index == 0 ? 0 : entries[index - 1].ends.fields
        let ends = entries[index].ends
        func part(_ start: UInt32, end: UInt32) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)])
        }
        return RecipientRecord(
            token: part(start, end: ends.token), registrationID: part(ends.token, end: ends.registrationID),
            alias: part(ends.registrationID, end: ends.alias), language: part(ends.alias, end: ends.language),
            fields: part(ends.language, end: ends.fields), service: entries[index].service)
    }
}

extension Recipient {
    /// The recipient that a record describes; nil if its fields are not a JSON array of strings.
    public init?(_ record: RecipientRecord) {
        guard case .array(let values)? = try? JSONValue(parsing: Array(record.fields)) else { return nil }
        func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        self.init(
            token: Target(normalized: text(record.token)), registrationID: text(record.registrationID),
            alias: text(record.alias),
            language: text(record.language), fields: values.compactMap(\.stringValue))
    }
}

/// A device that a campaign goes to, with what its push needs.
public struct Recipient: Hashable, Sendable {
    /// The token, normalised.
    public var token: Target
    /// Blank if the export has none.
    public var registrationID: String
    /// Blank if the export has none.
    public var alias: String
    /// Blank if the export has none.
    public var language: String
    /// The variant that the device gets; blank if the campaign has none.
    public var variant: String
    /// The cells that templates need, in the order of the plan's columns; blank when absent.
    public var fields: [String]

    /// A recipient.
    public init(
        token: Target, registrationID: String = "", alias: String = "", language: String = "", variant: String = "",
        fields: [String] = []
    ) {
        self.token = token
        self.registrationID = registrationID
        self.alias = alias
        self.language = language
        self.variant = variant
        self.fields = fields
    }
}

/// Where a push goes: the service's name for an app on a device, or for a user, such as a device
/// token or a registration id. Its form depends on the service (`TargetForm`).
///
/// ```swift
/// let target = Target(normalized: "7276d5a35b8c1f1d9e0a4b6c2d3e4f5a89f1")
/// print(target)  // 7276…89f1
/// ```
public struct Target: Hashable, Sendable, CustomStringConvertible {
    /// As in requests.
    public let text: String

    /// Takes a text that is known to be a target in its stored form.
    public init(normalized text: String) { self.text = text }

    /// The first and last four characters, the most that any log, error or page may show.
    public var redacted: String { Self.redact(text) }

    /// From this many characters on, a part of a target in a text is not shown: next to the
    /// target's short form, it tells the rest.
    private static let fewestOfPart = 12

    /// A text in which the target, and each longer part of it, is shortened wherever it occurs, in
    /// capitals or small letters, with blanks or hyphens between its digits, or in base64: no more
    /// of it is shown than `redacted` shows.
    public func redacted(in text: String) -> String {
        let shown = redacting(self.text, in: text)
        return base64.map { redacting($0, in: shown) } ?? shown
    }

    /// The bytes of hex digits in base64, without what fills it up; nil for other targets. Source:
    /// RFC 4648, section 4.
    private var base64: String? {
        let digits = text.utf8.map { byte in Character(Unicode.Scalar(byte)).hexDigitValue }
        guard digits.count >= SecretText.fewestHexDigits, digits.count % 2 == 0, !digits.contains(nil) else {
            return nil
        }
        let bytes = stride(from: 0, to: digits.count, by: 2).map {
            UInt8((digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0))
        }
        return String(Base64.text(bytes).prefix { $0 != "=" })
    }

    private func redacting(_ written: String, in text: String) -> String {
        let (target, bytes) = (Array(written.utf8), Array(text.utf8))
        let fewest = min(Self.fewestOfPart, target.count)
        guard bytes.count >= fewest, fewest > 0 else { return text }
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let (part, length) = Self.part(of: target, in: bytes[index...]), part.count >= fewest else {
                shown.append(bytes[index])
                index += 1
                continue
            }
            let (start, end) = (part.lowerBound == 0, part.upperBound == target.count)
            shown +=
                (start && end ? redacted : start ? "\(self.text.prefix(4))…" : end ? "…\(self.text.suffix(4))" : "…")
                .utf8
            index += length
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The longest part of a target that some bytes begin with, in either case, and how many bytes
    /// it has with what separates its characters.
    private static func part(of target: [UInt8], in bytes: ArraySlice<UInt8>) -> (part: Range<Int>, length: Int)? {
        let mayBeGrouped = target.count >= SecretText.fewestHexDigits
        return target.indices.filter { Self.isSame(bytes[bytes.startIndex], target[$0]) }.map { start in
            var (end, length) = (start, 0), beforeLastSign: (end: Int, length: Int)?
            for (place, byte) in bytes.enumerated() {
                if end < target.count, isSame(byte, target[end]) {
                    if place > length { beforeLastSign = (end, length) }
                    (end, length) = (end + 1, place + 1)
                } else if end == target.count || !mayBeGrouped || place - length >= mostBytesBetween
                    || !isSeparator(byte)
                {
                    // A word that continues with other letters is not a group of the target's
                    // digits.
                    let isWithinWord = place == length && byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter
                    if end < target.count, isWithinWord, let beforeLastSign { (end, length) = beforeLastSign }
                    break
                }
            }
            return (start..<end, length)
        }.max { $0.part.count < $1.part.count }
    }

    /// Between two characters of a target, as people write it: a no-break space and a blank have
    /// more than one.
    private static let mostBytesBetween = 4

    /// In capitals or small letters, and in either alphabet of base64.
    private static func isSame(_ byte: UInt8, _ target: UInt8) -> Bool {
        byte == target || byte | 0x20 == target || target == UInt8(ascii: "+") && byte == UInt8(ascii: "-")
            || target == UInt8(ascii: "/") && byte == UInt8(ascii: "_")
    }

    /// No sign that JSON needs.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte >= 0x80 || "-:._".utf8.contains(byte)
    }

    /// The redacted form: printing a target by accident must not reveal it.
    public var description: String { redacted }

    /// Shortens anything that may be a target to its first and last four characters.
    public static func redact(_ text: String) -> String {
        text.count <= 8 ? "…" : "\(text.prefix(4))…\(text.suffix(4))"
    }
}
