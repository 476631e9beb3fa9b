import Audience
import Base
import Content
import PushServices
import Runs

/// Brings devices that get the same text next to each other, for services whose requests carry
/// several devices but one text. Requests are then full although a run claims only some devices
/// ahead of its pace, and a service that counts calls is as fast as its preview says.
///
/// A bucket holds the devices of some texts, by their hash: exact order would need all texts in
/// memory.
final class TextBuckets {
    private let messages: MessageCatalog
    /// By the number of a service: whether its requests carry one text.
    private let isShared: [Bool]
    /// How many there are.
    let count: Int
    private var chooser: MessageChooser
    private var cells = EscapedCells()
    private var payload: [UInt8] = []

    /// More buckets hardly separate texts better, and cost the writer a pass over the gathered
    /// recipients.
    private static let most = 4096

    /// - Parameter segments: the places in sending order that buckets are to divide.
    /// - Returns: nil where no request carries several devices and one text, or all devices get the
    ///   same text.
    init?(_ messages: MessageCatalog, _ services: [any PushService], dividing segments: Int) {
        let isShared = services.map { $0.batching.largestTargets > 1 && !$0.batching.hasOwnTexts }
        let shared = messages.messages.filter { isShared[$0.service] }
        guard shared.count > 1 || shared.contains(where: { !$0.template.columns.isEmpty }) else { return nil }
        count = min(Self.most, SegmentSorter.mostPlaces / segments)
        guard count > 1 else { return nil }
        self.isShared = isShared
        self.messages = messages
        chooser = MessageChooser(messages)
    }

    /// The bucket of a device, 0 ..< count; 0 for devices of services that do not share texts.
    func bucket(of recipient: RecipientRecord) -> Int {
        guard isShared[Int(recipient.service)] else { return 0 }
        let variant = chooser.variant(of: recipient.token, alias: recipient.alias)
        guard
            let number = chooser.message(
                variant: variant, language: recipient.language, service: Int(recipient.service))
        else {
            return 0
        }
        let template = messages.messages[number].template
        // Numbers of messages are spread as hashes of texts are.
        guard !template.columns.isEmpty else { return place(of: mixed(UInt64(number))) }
        payload.removeAll(keepingCapacity: true)
        precondition(cells.locate(in: recipient.fields), "cells that were just written cannot be read")
        // A device whose text cannot be rendered is dropped before there is an order.
        guard template.append(cells, language: recipient.language, to: &payload) == nil else { return 0 }
        return place(of: DistinctTexts.hash(of: payload[...]))
    }

    private func mixed(_ number: UInt64) -> UInt64 {
        var random = SplitMix(seed: number)
        return random.next()
    }

    private func place(of hash: UInt64) -> Int { Int(hash % UInt64(count)) }
}
