import Audience
import Base
import Content
import PushServices

/// Renders the payload of one recipient after another, to see that it can be sent. Belongs to one thread.
///
/// Its groups: for recipients, and for payloads that are too large, the number of the message; for what cannot be rendered, a
/// `RenderCause`; for the holdout, the number of its variant.
final class PayloadChecker {
    private let messages: MessageCatalog
    private let single: PayloadTemplate?
    /// When each device gets its push; nil when that does not depend on the device.
    private let times: SendTimes?
    private let numbersOfColumns: [String: Int], numbersOfParts: [PayloadPart: Int]
    // Nothing calls back into this, so access cannot overlap. The exclusivity checks would cost more than handling a small cell.
    @exclusivity(unchecked) private var cells = EscapedCells()
    /// Payloads one after the other: removing each one costs as much as copying its constants.
    @exclusivity(unchecked) private var payloads: [UInt8] = []
    @exclusivity(unchecked) private var chooser: MessageChooser
    /// nil where texts need not be counted.
    @exclusivity(unchecked) private var texts: TextTallyPart?

    /// Payloads are removed at this many bytes.
    private static var keptBytes: Int { 16 << 10 }

    /// - Parameters:
    ///   - times: nil when recipients do not carry their zone, or it does not matter.
    ///   - tally: counts the texts of devices; nil where that is of no use.
    package init(_ messages: MessageCatalog, _ times: SendTimes? = nil, tally: TextTally? = nil) {
        self.messages = messages
        self.times = times
        single = messages.hasChoice || !messages.variantNames.isEmpty ? nil : messages.messages[0].template
        numbersOfColumns = Dictionary(messages.columns.enumerated().map { ($1.value, $0) }) { first, _ in first }
        numbersOfParts = Dictionary(uniqueKeysWithValues: messages.limitedParts.enumerated().map { ($1, $0) })
        chooser = MessageChooser(messages)
        texts = tally.map { TextTallyPart($0, messages) }
    }

    func judge(_ recipient: RecipientRecord) -> RecipientCheck {
        guard let single else { return judgeAmongMany(recipient) }
        return judge(recipient, single, group: 0)
    }

    private func judgeAmongMany(_ recipient: RecipientRecord) -> RecipientCheck {
        let variant = chooser.variant(of: recipient.token, alias: recipient.alias)
        guard let number = chooser.message(variant: variant, language: recipient.language, service: Int(recipient.service)) else {
            // A device that could not have been sent to is not held back: otherwise the holdout would not be comparable with the rest.
            let sent = chooser.variantWithoutHoldout(of: recipient.token, alias: recipient.alias)
            guard let number = chooser.message(variant: sent, language: recipient.language, service: Int(recipient.service)) else {
                return RecipientCheck(reason: .holdout, group: variant)
            }
            let other = judge(recipient, messages.messages[number].template, group: number)
            return other.reason == nil ? RecipientCheck(reason: .holdout, group: variant) : other
        }
        return judge(recipient, messages.messages[number].template, group: number)
    }

    @inline(__always) private func judge(_ recipient: RecipientRecord, _ template: PayloadTemplate, group: Int) -> RecipientCheck {
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
        guard case .tooLarge(let bytes) = failure else { return RecipientCheck(reason: failure.skipReason, group: group) }
        return RecipientCheck(payloadBytes: bytes, reason: failure.skipReason, group: group)
    }
}
