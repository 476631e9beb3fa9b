import Base
import Content
import PushServices
import Synchronization

/// Counts the different texts that go through services whose requests carry several devices, but never several texts. Several threads add to it.
final class TextTally: Sendable {
    /// By the number of the service.
    private let texts: Mutex<[DistinctTexts]>
    /// Whether the text of a message is counted: it differs from device to device, and each needs a request of its own.
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
    /// - Returns: the hash from which on others need not be added.
    func add(_ hash: UInt64, service: Int) -> UInt64 {
        texts.withLock { texts in
            texts[service].insert(hash)
            return texts[service].bound
        }
    }

    /// How many different texts go through a service.
    func count(ofService service: Int) -> Int { texts.withLock { $0[service].count } }
}

/// What one thread adds to a tally, without asking for its lock where that changes nothing.
struct TextTallyPart {
    private let tally: TextTally
    private let services: [Int]
    private var bounds: [UInt64]

    init(_ tally: TextTally, _ messages: MessageCatalog) {
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
