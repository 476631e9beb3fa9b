import Audience
import Base
import Campaigns
import Content
import PushServices
import Runs
import Workspace

/// What goes through one of an app's services.
struct PreviewService: Sendable {
    var service: any PushService
    /// Where its pushes go, for people.
    var destination: String
    var recipients: Int
    /// How many different texts they get, as far as that decides how many requests they need; about
    /// right from some thousands on.
    var texts: Int
    /// How many requests carry them, about.
    var calls: Int
    /// nil without recipients.
    var payloadBytes: PayloadBytes?
    /// The pace that decides how long sending takes: its own, or its part of one that it shares
    /// with the other services; nil for as fast as the service takes them.
    var pace: Pace?
    /// Whether that pace counts requests for several devices, rather than devices.
    var isPacedByCalls = false
    /// The most devices of a request at its paces.
    var largestRequest: Int
    /// How long sending takes at the paces, in seconds; nil without a pace.
    var exactSecondsAtPace: Double?

    /// The services of an app, in its order.
    /// - Parameter tally: what was counted of services whose requests carry one text; nil for
    ///   nothing.
    static func all(of context: CampaignContext, _ result: AudienceResult, _ tally: RequestTextCounts?) throws
        -> [PreviewService]
    {
        let messages = context.messages.messages, settings = try RunSettings(context)
        var services = context.app.services.enumerated().map { number, account in
            let groups = messages.indices.filter { messages[$0].service == number }
            let recipients = groups.reduce(0) { $0 + result.groups[$1, default: 0] }
            let sizes = groups.reduce(into: [:]) {
                $0.merge(result.payloadBytesOfGroups[$1] ?? [:], uniquingKeysWith: +)
            }
            let paces = settings.ofService(number).paces
            let (texts, calls) =
                paces.batching.keepsTexts
                ? (0, calls(of: groups.map { (messages[$0], result.groups[$0, default: 0]) }, paces))
                : calls(of: groups, result, tally, service: number, paces)
            return PreviewService(
                service: account.service, destination: account.destination, recipients: recipients, texts: texts,
                calls: calls,
                payloadBytes: PayloadBytes(counts: sizes), largestRequest: paces.largestRequest)
        }
        services.pace(by: settings)
        return services
    }

    /// The texts and requests that the devices of some messages need.
    private static func calls(
        of messages: [Int], _ result: AudienceResult, _ tally: RequestTextCounts?, service: Int, _ paces: RequestPaces
    ) -> (texts: Int, calls: Int) {
        func full(_ devices: Int) -> Int { (devices + paces.largestRequest - 1) / paces.largestRequest }
        let devices = messages.map { result.groups[$0, default: 0] }
        if paces.batching.hasOwnTexts { return (0, full(devices.reduce(0, +))) }
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
        // A row that is not its device's newest has a text, too, which no device gets.
        let different = max(1, min(personal, tally.count(ofService: service)))
        // How devices are spread over the texts is not known: each text may have one request that
        // is not full.
        return (texts + different, calls + min(personal, personal / paces.largestRequest + different))
    }

    /// The requests of a service that keeps texts (`KeptTexts`): those that name the text of many
    /// devices, and full ones for all others.
    private static func calls(of messages: [(message: MessageCatalog.Message, devices: Int)], _ paces: RequestPaces)
        -> Int
    {
        let batching = paces.batching, largest = paces.largestRequest
        func full(_ devices: Int, _ most: Int) -> Int { (devices + most - 1) / most }
        let (large, small) = messages.reduce(into: (0, 0)) { sums, entry in
            if entry.message.template.columns.isEmpty, batching.namesText(targets: min(entry.devices, largest)) {
                sums.0 += full(entry.devices, largest)
            } else {
                sums.1 += entry.devices
            }
        }
        return large + full(small, min(batching.largestWithOwnTexts, largest))
    }

    /// The same, rounded.
    var secondsAtPace: Double? { exactSecondsAtPace.map { ($0 * 10).rounded() / 10 } }

    /// The pace in words: "at 540/min", with its unit if the service counts something else than
    /// people do.
    var paceWords: String {
        let unit = service.batching.isPacedByCalls ? " (\(paceUnit))" : ""
        return "at \(pace?.description ?? "any pace")\(unit)"
    }

    /// What the pace counts, for people and programs.
    private var paceUnit: String { isPacedByCalls ? "calls" : "devices" }

    /// The number of requests, where they are not as many as devices.
    var callWords: String? {
        service.batching.largestTargets > 1 && recipients > 0 ? TextFormat.counted(calls, one: "call") : nil
    }

    /// Its member of `services` in `preview --json`.
    var json: JSONValue {
        .object(pairs: [
            ("service", .string(service.name)), ("environment", .string(destination)),
            ("audience", .integer(Int64(recipients))),
            ("payload_bytes", payloadBytes?.json ?? .null), ("calls", .integer(Int64(calls))),
            ("pace", pace.map { .string($0.description) } ?? .null),
            ("pace_counts", pace == nil ? .null : .string(paceUnit)),
            ("seconds_at_pace", secondsAtPace.map { .double($0) } ?? .null),
        ])
    }
}
