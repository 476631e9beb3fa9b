import Base
import Runs
import Synchronization

/// A thousand recipients as the store keeps them: of each its target, registration id, alias,
/// language, variant and cells, one after the other. A target of hex digits takes half of its
/// digits.
enum RecipientBlock {
    static let recipients = 1000

    /// The block that an id is in.
    static func number(of id: Int) -> Int { id / recipients }

    /// How many blocks an audience has.
    static func count(of audience: Int) -> Int { (audience + recipients - 1) / recipients }

    /// The ids of a block.
    static func ids(of number: Int, audience: Int) -> Range<Int> {
        number * recipients..<min((number + 1) * recipients, audience)
    }
}

extension ByteWriter {
    @inline(__always) mutating func put(_ recipient: StoredRecipient) {
        put(target: recipient.token)
        put(recipient.registrationID)
        put(recipient.alias)
        put(recipient.language)
        put(recipient.variant)
        put(recipient.fields)
    }

    /// Twice its length, and one more for a target of hex digits.
    private mutating func put(target: UnsafeBufferPointer<UInt8>) {
        guard target.count % 2 == 0, !target.isEmpty, putHex(target) else {
            put(target.count << 1)
            return put(raw: target)
        }
    }

    /// - Returns: false, and nothing was put, if not all of it are hex digits.
    private mutating func putHex(_ target: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: target.count / 2) { packed in
            var flaws: UInt8 = 0
            for place in packed.indices {
                let (high, low) = (Self.value(ofDigit: target[2 * place]), Self.value(ofDigit: target[2 * place + 1]))
                flaws |= high | low
                packed.initializeElement(at: place, to: high << 4 | low & 0xF)
            }
            guard flaws < 16 else { return false }
            put(target.count << 1 | 1)
            put(raw: UnsafeBufferPointer(packed))
            return true
        }
    }

    /// 16 and more for what is no lower-case hex digit.
    @inline(__always) private static func value(ofDigit byte: UInt8) -> UInt8 {
        let (digit, letter) = (byte &- UInt8(ascii: "0"), byte &- UInt8(ascii: "a"))
        return digit < 10 ? digit : letter < 6 ? letter + 10 : 16
    }
}

/// Reads the recipients of a block in their order.
struct RecipientBlockReader {
    private var reader: ByteReader
    /// The digits of the target that was read last.
    private var digits: [UInt8] = []
    private static let hex = Array("0123456789abcdef".utf8)

    init(_ block: UnsafeRawBufferPointer) { reader = ByteReader(block) }

    var isIntact: Bool { reader.isIntact }
    var isAtEnd: Bool { reader.isAtEnd }

    mutating func skip() {
        let head = reader.number()
        _ = reader.raw(head & 1 == 1 ? head >> 2 : head >> 1)
        for _ in 0..<5 { _ = reader.text() }
    }

    /// Calls `body` with the next recipient, whose texts are lent.
    mutating func next<Value>(_ body: (StoredRecipient) throws -> Value) rethrows -> Value {
        let head = reader.number()
        let isHex = head & 1 == 1
        let target = reader.raw(isHex ? head >> 2 : head >> 1).bindMemory(to: UInt8.self)
        let registrationID = reader.text(), alias = reader.text(), language = reader.text(), variant = reader.text(),
            fields = reader.text()
        func recipient(_ token: UnsafeBufferPointer<UInt8>) -> StoredRecipient {
            StoredRecipient(
                token: token, registrationID: registrationID, alias: alias, language: language, variant: variant,
                fields: fields)
        }
        guard isHex else { return try body(recipient(target)) }
        digits.removeAll(keepingCapacity: true)
        for byte in target {
            digits.append(Self.hex[Int(byte >> 4)])
            digits.append(Self.hex[Int(byte & 15)])
        }
        return try digits.withUnsafeBufferPointer { try body(recipient($0)) }
    }
}

/// Blocks of recipients that a worker reads pushes from. Its memory is bounded by what is claimed
/// at a time.
final class BlockCache: Sendable {
    /// More than the largest claim has, with those that are rendered once more.
    private static let most = 256

    private let blocks = Mutex<[Int: [UInt8]]>([:])

    /// The blocks of some numbers that are there.
    func known(_ numbers: Range<Int>) -> [Int: [UInt8]] {
        blocks.withLock { blocks in
            var known: [Int: [UInt8]] = [:]
            for number in numbers { known[number] = blocks[number] }
            return known
        }
    }

    /// Adds blocks. The lowest numbers go first when there are too many: claims go upwards.
    func add(_ new: [Int: [UInt8]]) {
        blocks.withLock { blocks in
            blocks.merge(new) { $1 }
            guard blocks.count > Self.most else { return }
            for number in blocks.keys.filter({ new[$0] == nil }).sorted().prefix(blocks.count - Self.most) {
                blocks[number] = nil
            }
        }
    }
}
