import Audience
import Base
import Content
import PushServices
import Synchronization

/// Renders the payload of one recipient after another, to see that it can be sent. Belongs to one
/// thread.
///
/// Its groups: for recipients, and for payloads that are too large, the number of the message; for
/// what cannot be rendered, a `RenderCause`; for the holdout, the number of its variant.
final class PayloadChecker {
    private let messages: MessageCatalog
    private let single: PayloadTemplate?
    /// When each device gets its push; nil when that does not depend on the device.
    private let times: SendTimes?
    private let numbersOfColumns: [String: Int], numbersOfParts: [PayloadPart: Int]
    // Nothing calls back into this, so access cannot overlap. The exclusivity checks would cost
    // more than handling a small cell.
    @exclusivity(unchecked) private var cells = EscapedCells()
    /// Payloads one after the other: removing each one costs as much as copying its constants.
    @exclusivity(unchecked) private var payloads: [UInt8] = []
    @exclusivity(unchecked) private var chooser: MessageChooser
    /// nil where texts need not be counted.
    @exclusivity(unchecked) private var texts: ThreadTextCounts?

    /// Payloads are removed at this many bytes.
    private static var keptBytes: Int { 16 << 10 }

    /// - Parameters:
    ///   - times: nil when recipients do not carry their zone, or it does not matter.
    ///   - tally: counts the texts of devices; nil if that is not needed.
    package init(_ messages: MessageCatalog, _ times: SendTimes? = nil, tally: RequestTextCounts? = nil) {
        self.messages = messages
        self.times = times
        single = messages.hasChoice || !messages.variantNames.isEmpty ? nil : messages.messages[0].template
        numbersOfColumns = Dictionary(messages.columns.enumerated().map { ($1.value, $0) }) { first, _ in first }
        numbersOfParts = Dictionary(uniqueKeysWithValues: messages.limitedParts.enumerated().map { ($1, $0) })
        chooser = MessageChooser(messages)
        texts = tally.map { ThreadTextCounts($0, messages) }
    }

    func judge(_ recipient: RecipientRecord) -> RecipientCheck {
        guard let single else { return judgeAmongMany(recipient) }
        return judge(recipient, single, group: 0)
    }

    private func judgeAmongMany(_ recipient: RecipientRecord) -> RecipientCheck {
        let variant = chooser.variant(of: recipient.token, alias: recipient.alias)
        guard
            let number = chooser.message(
                variant: variant, language: recipient.language, service: Int(recipient.service))
        else {
            // A device that could not have been sent to is not held back: otherwise the holdout
            // would not be comparable with the rest.
            let sent = chooser.variantWithoutHoldout(of: recipient.token, alias: recipient.alias)
            guard
                let number = chooser.message(
                    variant: sent, language: recipient.language, service: Int(recipient.service))
            else {
                return RecipientCheck(reason: .holdout, group: variant)
            }
            let other = judge(recipient, messages.messages[number].template, group: number)
            return other.reason == nil ? RecipientCheck(reason: .holdout, group: variant) : other
        }
        return judge(recipient, messages.messages[number].template, group: number)
    }

    @inline(__always) private func judge(_ recipient: RecipientRecord, _ template: PayloadTemplate, group: Int)
        -> RecipientCheck
    {
        if payloads.count > Self.keptBytes { payloads.removeAll(keepingCapacity: true) }
        let start = payloads.count
        precondition(cells.locate(in: recipient.fields), "cells that were just written cannot be read")
        if let failure = template.append(cells, language: recipient.language, to: &payloads) {
            return recipientCheck(of: failure, group: group)
        }
        let size = payloads.count - start
        if texts != nil { texts?.add(payloads[start...], message: group) }
        guard let times else { return RecipientCheck(payloadBytes: size, group: group) }
        return RecipientCheck(payloadBytes: size, group: group, wave: times.number(of: cells[cells.count - 1]))
    }

    private func recipientCheck(of failure: RenderFailure, group: Int) -> RecipientCheck {
        if let cause = RenderCause(failure, number: { numbersOfColumns[$0] }, part: { numbersOfParts[$0] }) {
            return RecipientCheck(reason: failure.skipReason, group: cause.group)
        }
        guard case .tooLarge(let bytes) = failure else {
            return RecipientCheck(reason: failure.skipReason, group: group)
        }
        return RecipientCheck(payloadBytes: bytes, reason: failure.skipReason, group: group)
    }
}

/// Counts the different texts that go through services whose requests carry several devices, but
/// never several texts. Several threads add to it.
final class RequestTextCounts: Sendable {
    /// By the number of the service.
    private let texts: Mutex<[DistinctTexts]>
    /// Whether the text of a message is counted: it differs from device to device, and each needs a
    /// request of its own.
    let counted: [Bool]

    /// nil if there is nothing to count.
    init?(_ messages: MessageCatalog, _ services: [any PushService]) {
        counted = messages.messages.map { message in
            let batching = services[message.service].batching
            return batching.largestTargets > 1 && batching.largestWithOwnTexts == 1 && !message.template.columns.isEmpty
        }
        guard counted.contains(true) else { return nil }
        texts = Mutex(Array(repeating: DistinctTexts(), count: services.count))
    }

    /// Adds a text.
    /// - Returns: the hash from which others need not be added.
    func add(_ hash: UInt64, service: Int) -> UInt64 {
        texts.withLock { texts in
            texts[service].insert(hash)
            return texts[service].bound
        }
    }

    /// How many different texts go through a service.
    func count(ofService service: Int) -> Int { texts.withLock { $0[service].count } }
}

/// The additions of one thread to a tally; it does not take the lock if nothing changes.
struct ThreadTextCounts {
    private let tally: RequestTextCounts
    private let services: [Int]
    private var bounds: [UInt64]

    init(_ tally: RequestTextCounts, _ messages: MessageCatalog) {
        self.tally = tally
        services = messages.messages.map(\.service)
        bounds = Array(repeating: .max, count: (services.max() ?? 0) + 1)
    }

    /// Adds the text of a device.
    /// - Parameter message: the number of the message.
    mutating func add(_ payload: ArraySlice<UInt8>, message: Int) {
        guard tally.counted[message] else { return }
        let hash = DistinctTexts.hash(of: payload), service = services[message]
        if hash < bounds[service] { bounds[service] = tally.add(hash, service: service) }
    }
}

/// How many different texts there are among many, from their hashes: exact up to `kept`, then an
/// estimate that is off by about 1.6 %.
///
/// It keeps the smallest hashes (Bar-Yossef et al., "Counting distinct elements in a data stream"):
/// if the largest of k different ones is at the part p of all hashes, there are about (k − 1) / p
/// texts.
struct DistinctTexts: Sendable {
    /// The highest number of hashes kept.
    static let kept = 4096

    private var hashes: Set<UInt64> = []
    /// Only smaller hashes can be among those that are kept.
    private(set) var bound = UInt64.max

    mutating func insert(_ hash: UInt64) {
        guard hash < bound else { return }
        hashes.insert(hash)
        // Sorted once for many that came.
        if hashes.count == 2 * Self.kept { trim() }
    }

    private mutating func trim() {
        let sorted = hashes.sorted()
        bound = sorted[Self.kept]
        hashes = Set(sorted[..<Self.kept])
    }

    /// A hash of a text: the same in every process, so that a preview says the same each time.
    static func hash(of text: ArraySlice<UInt8>) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: text.count)
        text.withUnsafeBytes { bytes in
            var offset = 0
            while offset + 8 <= bytes.count {
                mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)), into: &hash)
                offset += 8
            }
            var rest: UInt64 = 0
            for byte in bytes[offset...] { rest = rest << 8 | UInt64(byte) }
            mix(rest, into: &hash)
        }
        return hash
    }

    /// The steps of SplitMix64 (`SplitMix`), of which each is a bijection.
    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &+ 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
    }

    /// The number of texts.
    var count: Int {
        guard hashes.count > Self.kept || bound < .max else { return hashes.count }
        let smallest = hashes.sorted().prefix(Self.kept)
        guard let largest = smallest.last else { return 0 }
        return Int(Double(smallest.count - 1) / (Double(largest) / Double(UInt64.max)))
    }
}

/// Why a payload could not be rendered, in the detail by which devices are counted.
enum RenderCause: Hashable {
    /// The problem with the cell of a column.
    enum Flaw: Int, CaseIterable {
        case blank, notADate, notANumber, notHTTPS, gap
    }

    /// A number of `MessageCatalog.columns`.
    case column(Int, Flaw)
    /// A text that people would see came out blank.
    case blankText
    /// A part is larger than its service accepts: a number of `MessageCatalog.limitedParts`.
    case long(Int)
    /// A column, or a part, beyond those that can be distinguished.
    case otherColumn

    private static let blankTextGroup = RecipientCheck.groupLimit - 1, otherGroup = RecipientCheck.groupLimit - 2
    /// The groups of parts that can be distinguished. All services together have ten.
    private static let partGroups = RecipientCheck.groupLimit - 18..<RecipientCheck.groupLimit - 2

    /// As a group of `RecipientCheck`.
    var group: Int {
        switch self {
        case .blankText: return Self.blankTextGroup
        case .otherColumn: return Self.otherGroup
        case .long(let part): return part < Self.partGroups.count ? Self.partGroups.lowerBound + part : Self.otherGroup
        case .column(let column, let flaw):
            let group = column * Flaw.allCases.count + flaw.rawValue
            return group < Self.partGroups.lowerBound ? group : Self.otherGroup
        }
    }

    /// - Parameter group: of a check.
    package init(group: Int) {
        switch group {
        case Self.blankTextGroup: self = .blankText
        case Self.otherGroup: self = .otherColumn
        case Self.partGroups: self = .long(group - Self.partGroups.lowerBound)
        default: self = .column(group / Flaw.allCases.count, Flaw.allCases[group % Flaw.allCases.count])
        }
    }

    /// - Parameters:
    ///   - number: the number of a column.
    ///   - part: the number of a part.
    init?(_ failure: RenderFailure, number: (String) -> Int?, part: (PayloadPart) -> Int?) {
        func cause(_ column: String, _ flaw: Flaw) -> RenderCause {
            number(column).map { .column($0, flaw) } ?? .otherColumn
        }
        switch failure {
        case .blank(let column, _): self = cause(column, .blank)
        case .notADate(let column, _): self = cause(column, .notADate)
        case .notANumber(let column, _): self = cause(column, .notANumber)
        case .notHTTPS(let column, _): self = cause(column, .notHTTPS)
        case .gap(let column, _): self = cause(column, .gap)
        case .blankText: self = .blankText
        case .tooLong(let limit, _): self = part(limit.part).map { .long($0) } ?? .otherColumn
        case .tooLarge: return nil
        }
    }
}
