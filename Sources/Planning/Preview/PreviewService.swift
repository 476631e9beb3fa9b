import Audience
import Base
import Campaigns
import Content
import PushServices
import Workspace

/// What goes through one of an app's services.
struct PreviewService: Sendable {
    var service: any PushService
    /// Where its pushes go, for people.
    var destination: String
    var recipients: Int
    /// How many different texts they get, as far as that decides how many requests they need; about right from some thousands on.
    var texts: Int
    /// How many requests carry them, about.
    var calls: Int
    /// nil without recipients.
    var payloadBytes: PayloadBytes?
    /// Never faster than this, as the campaign or the app says; nil for the service's own pace.
    var chosenPace: Pace?
    /// Never faster than this; nil for as fast as the service takes them.
    var pace: Pace? { chosenPace ?? service.usualPace?.pace }

    /// The services of an app, in its order.
    /// - Parameter tally: what was counted of services whose requests carry one text; nil for nothing.
    static func all(of context: CampaignContext, _ result: AudienceResult, _ tally: TextTally?) -> [PreviewService] {
        let messages = context.messages.messages
        return context.app.services.enumerated().map { number, account in
            let groups = messages.indices.filter { messages[$0].service == number }
            let recipients = groups.reduce(0) { $0 + result.groups[$1, default: 0] }
            let sizes = groups.reduce(into: [:]) { $0.merge(result.payloadBytesOfGroups[$1] ?? [:], uniquingKeysWith: +) }
            // Services are sent to side by side: together they are not faster than the campaign's pace, nor than the app's.
            let share = context.campaign.delivery.pace?.share(of: recipients, in: result.audience)
            let own = account.pace ?? context.app.pace?.share(of: recipients, in: result.audience)
            let chosen = Pace.slower(share, own)
            // Where an app has one service, the app's keys are the service's. A pace that is meant for devices is none for calls.
            let isOwn =
                account.pace != nil
                || (context.app.services.count == 1 && context.app.pace != nil && account.service.batching.paceUnit == .targets)
            let batching = account.service.batching
            let (texts, calls) =
                batching.keepsTexts
                ? (0, calls(of: groups.map { (messages[$0], result.groups[$0, default: 0]) }, batching))
                : calls(of: groups, result, tally, service: number, batching)
            return PreviewService(
                service: account.service, destination: account.destination, recipients: recipients, texts: texts, calls: calls,
                payloadBytes: PayloadBytes(counts: sizes),
                chosenPace: isOwn ? chosen : chosen?.withinLimit(of: account.service))
        }
    }

    /// The texts and requests that the devices of some messages need.
    private static func calls(
        of messages: [Int], _ result: AudienceResult, _ tally: TextTally?, service: Int, _ batching: Batching
    ) -> (texts: Int, calls: Int) {
        func full(_ devices: Int) -> Int { (devices + batching.largestTargets - 1) / batching.largestTargets }
        let devices = messages.map { result.groups[$0, default: 0] }
        if batching.hasOwnTexts { return (0, full(devices.reduce(0, +))) }
        var (texts, calls, personal) = (0, 0, 0)
        for (message, devices) in zip(messages, devices) where devices > 0 {
            if tally?.counted[message] == true {
                personal += devices
            } else {
                texts += 1
                calls += full(devices)
            }
        }
        guard let tally, personal > 0 else { return (texts, calls) }
        // A row that is not its device's newest has a text, too, which nobody gets.
        let different = max(1, min(personal, tally.count(ofService: service)))
        return (texts + different, calls + max(different, full(personal)))
    }

    /// The requests of a service that keeps texts (`KeptTexts`): those that name the text of many devices, and full ones for all others.
    private static func calls(of messages: [(message: MessageCatalog.Message, devices: Int)], _ batching: Batching) -> Int {
        func full(_ devices: Int, _ most: Int) -> Int { (devices + most - 1) / most }
        let (large, small) = messages.reduce(into: (0, 0)) { sums, entry in
            if entry.message.template.columns.isEmpty, batching.namesText(targets: entry.devices) {
                sums.0 += full(entry.devices, batching.largestTargets)
            } else {
                sums.1 += entry.devices
            }
        }
        return large + full(small, batching.largestWithOwnTexts)
    }

    /// Whether each request needs a place in the pace, however many devices it is for.
    var isPacedByCalls: Bool { service.batching.paceUnit == .requests && service.batching.largestTargets > 1 }

    /// How long sending takes at the pace, in seconds; nil without a pace.
    var exactSecondsAtPace: Double? { pace.map { Double(isPacedByCalls ? calls : recipients) / $0.perSecond } }

    /// The same, rounded.
    var secondsAtPace: Double? { exactSecondsAtPace.map { ($0 * 10).rounded() / 10 } }

    /// The pace in words: "at 540/min", or with what it counts if that is not devices.
    var paceWords: String { "at \(pace?.description ?? "any pace")\(isPacedByCalls ? " (calls)" : "")" }

    /// The number of requests, where they are not as many as devices.
    var callWords: String? {
        service.batching.largestTargets > 1 && recipients > 0 ? TextFormat.counted(calls, one: "call") : nil
    }

    /// Its member of `services` in `preview --json`.
    var json: JSONValue {
        .object(pairs: [
            ("service", .string(service.name)), ("environment", .string(destination)), ("audience", .integer(Int64(recipients))),
            ("payload_bytes", payloadBytes?.json ?? .null), ("calls", .integer(Int64(calls))),
            ("pace", pace.map { .string($0.description) } ?? .null),
            ("seconds_at_pace", secondsAtPace.map { .double($0) } ?? .null),
        ])
    }
}

extension Pace {
    /// This pace, or the most that the service takes if that is slower.
    fileprivate func withinLimit(of service: any PushService) -> Pace? {
        guard let usual = service.usualPace, usual.isLimit else { return self }
        return Pace.slower(self, usual.pace)
    }
}
