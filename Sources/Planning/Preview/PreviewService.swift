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

/// How long services take that are sent to in parallel and share a pace: each gets its part of it,
/// as far as it can use it, and the unused rest goes to the others.
struct PaceForecast {
    /// The devices of each service.
    let devices: [Int]
    /// How many devices a second each takes by itself; nil for as many as come.
    let ownRates: [Double?]
    /// The devices of a second through all services together; nil for no limit.
    let shared: Double?

    /// The seconds that each service takes; nil for one without a pace.
    var seconds: [Double?] {
        guard let shared else {
            return zip(devices, ownRates).map { devices, rate in rate.map { Double(devices) / $0 } }
        }
        var ends = devices.map { _ in 0.0 }, left = devices.map(Double.init), now = 0.0
        while left.contains(where: { $0 > 0 }) {
            let rates = rates(of: left.indices.filter { left[$0] > 0 }, sharing: shared)
            let step = rates.map { left[$0.key] / $0.value }.min() ?? 0
            now += step
            for (service, rate) in rates {
                left[service] -= rate * step
                // Another service may end at the same moment except for rounding.
                if left[service] < 1e-6 { (left[service], ends[service]) = (0, now) }
            }
        }
        return ends
    }

    /// The rates of the services that are still sent to.
    private func rates(of services: [Int], sharing shared: Double) -> [Int: Double] {
        var rates: [Int: Double] = [:], rest = services, free = shared
        while true {
            let sum = rest.reduce(0) { $0 + Double(devices[$1]) }
            let slow = rest.filter { service in
                ownRates[service].map { $0 < free * Double(devices[service]) / sum } ?? false
            }
            if slow.isEmpty {
                for service in rest { rates[service] = free * Double(devices[service]) / sum }
                return rates
            }
            for service in slow { rates[service] = ownRates[service] }
            free -= slow.reduce(0) { $0 + (ownRates[$1] ?? 0) }
            rest.removeAll(where: slow.contains)
            if rest.isEmpty { return rates }
        }
    }
}

extension [PreviewService] {
    /// Computes the pace of each service, and how long that takes.
    mutating func pace(by settings: RunSettings) {
        let shared = Pace.slower(settings.devicePace, settings.appDevicePace)
        let own = indices.map { settings.ofService($0).servicePaces }
        let all = reduce(0) { $0 + $1.recipients }
        // A service that has the pace to itself must fill its requests, which are not divided.
        let alone = count == 1 ? settings.paces : nil
        let forecast = PaceForecast(
            devices: map(\.recipients),
            ownRates: indices.map { place in
                let seconds = (alone ?? own[place]).seconds(pushes: self[place].recipients, requests: self[place].calls)
                return seconds.map { Double(Swift.max(1, self[place].recipients)) / Swift.max($0, 1e-9) }
            }, shared: alone == nil ? shared?.perSecond : nil
        ).seconds
        for place in indices {
            self[place].exactSecondsAtPace = forecast[place]
            let (devices, calls) = (self[place].recipients, self[place].calls)
            let part = shared?.share(of: devices, in: all)
            var paces = own[place]
            paces.keep(part, counting: .targets)
            self[place].isPacedByCalls = paces.isBoundByCalls(pushes: devices, requests: calls)
            self[place].pace = self[place].isPacedByCalls ? paces.calls : paces.targets ?? paces.calls
        }
    }
}
