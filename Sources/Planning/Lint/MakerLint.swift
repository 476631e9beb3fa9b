import Audience
import Base
import Campaigns
import Content
import PushServices
import Runs
import Workspace

/// Warnings about what the makers of phones in China do with marketing: a phone shows a few such
/// pushes of an app a day, none at night, and may show none without a class. Makers give no answer
/// of that kind to a push: it counts as accepted.
struct MakerLint {
    private let context: CampaignContext
    /// The numbers of the app's services whose pushes makers show, at least one.
    private let services: [Int]
    /// What a phone shows of the app's marketing in a day, the highest number first, with the names
    /// of phones for which it holds.
    let caps: [(pushes: Int, phones: [String])]

    /// nil where makers show none of the pushes: they go elsewhere, to a simulator alone, or show
    /// nothing.
    init?(_ context: CampaignContext) {
        guard context.messages.pushType == .alert else { return nil }
        services = context.app.services.indices.filter { number in
            let account = context.app.services[number]
            if case .simulator = account.environment { return false }
            return account.service.rules.reachesMakers
        }
        guard !services.isEmpty else { return nil }
        self.context = context
        let services = services
        caps = Self.caps(
            of: context.messages.messages.filter { services.contains($0.service) }.map {
                ($0.content, context.app.services[$0.service].service)
            })
    }

    static func caps(of contents: [(MessageContent, any PushService)]) -> [(pushes: Int, phones: [String])] {
        var phones: [Int: [String]] = [:]
        for (content, service) in contents {
            let makers = PhoneMaker.allCases.map { ($0.displayName, $0.mostADay(content, through: service)) }
            for (name, most) in makers + [("HarmonyOS", content.mostADayOnHarmony)] {
                guard let most, !(phones[most] ?? []).contains(name) else { continue }
                phones[most, default: []].append(name)
            }
        }
        return phones.sorted { $0.key > $1.key }.map { (pushes: $0.key, phones: $0.value) }
    }

    private func warning(_ name: WarningName, _ message: String, at place: SourcePosition? = nil, remedy: String)
        -> Diagnostic
    {
        .warning(name, message: message, at: place ?? context.campaign.content.position, remedy: remedy)
    }

    // MARK: - What the campaign says

    var warningsOfFiles: [Diagnostic] { services.compactMap(lackedClasses) + repeats }

    /// A service whose pushes lack what makers demand.
    private func lackedClasses(_ number: Int) -> Diagnostic? {
        let service = context.app.services[number].service
        guard let content = context.messages.messages.first(where: { $0.service == number })?.content else {
            return nil
        }
        let lacked = content.lackedByMakers(service)
        guard !lacked.isEmpty else { return nil }
        let words = ["category", "channel"].compactMap { key -> String? in
            let phones = lacked.filter { $0.key == key }.map { $0.maker?.displayName ?? "HarmonyOS" }
            return phones.isEmpty ? nil : "no \(key) for \(Self.list(phones))"
        }
        let keys = lacked.compactMap { maker, key in
            maker.map { "\($0.rawValue): {\(key): \(key == "channel" ? "ID" : "MARKETING")}" }
        }
        let groups =
            (keys.isEmpty ? [] : ["makers: {\(keys.joined(separator: ", "))}"])
            + (keys.count < lacked.count ? ["harmony: {category: MARKETING}"] : [])
        return warning(
            .makerCategory, "\(service.displayName) gets \(Self.list(words)), so these phones may show no push",
            at: content.position,
            remedy: "Write below 'content', with the ids that makers gave the app: services: {\(service.accountName): "
                + "{\(groups.joined(separator: ", "))}}. If the app has no such phones, allow the warning.")
    }

    /// A rule that goes out more often on a day than phones show.
    private var repeats: [Diagnostic] {
        guard let rule = context.campaign.schedule?.repeat else { return [] }
        let times = rule.timesOfDay { _ in true }.count
        guard let cap = commonCap, times > cap.pushes, !isCapped(at: cap.pushes) else { return [] }
        return [
            warning(
                .makerCap,
                "'repeat' goes out \(TextFormat.count(times)) times on a day, and \(Self.words(cap)) show "
                    + "\(TextFormat.counted(cap.pushes, one: "marketing push", many: "marketing pushes")) of an app a day",
                at: context.campaign.schedulePosition,
                remedy: "Write fewer times in 'repeat', or \(Self.frequency(cap.pushes)).")
        ]
    }

    /// The cap of most phones.
    private var commonCap: (pushes: Int, phones: [String])? {
        caps.max { ($0.phones.count, $1.pushes) < ($1.phones.count, $0.pushes) }
    }

    /// Whether `frequency` lets a device get that many pushes a day at most.
    private func isCapped(at pushes: Int) -> Bool {
        context.frequencyCaps.contains {
            $0.seconds >= 86_400 ? $0.pushes <= pushes : $0.pushes * 86_400 <= pushes * $0.seconds
        }
    }

    // MARK: - What devices got today

    /// The pushes of the day on which the campaign goes out, for the makers' caps; nil while that
    /// day is still to come.
    func history(_ time: SendingTime, now: Timestamp, _ settings: RunSettings) -> FrequencyHistory? {
        var moment = now
        if case .at(let occurrence) = time { moment = max(now, occurrence.begins) }
        let seconds = Int(now.epochSeconds - Self.startOfDay(at: moment).epochSeconds)
        guard seconds > 0, !caps.isEmpty else { return nil }
        let lists = Set(services.map { settings.services[$0].listName })
        return FrequencyHistory(
            app: context.app.name.value, lists: lists,
            caps: caps.prefix(AudienceQuery.mostCounts).map { FrequencyCap(pushes: $0.pushes, seconds: seconds) },
            now: now)
    }

    /// Midnight in China, where clocks have not been changed since 1991.
    static func startOfDay(at moment: Timestamp) -> Timestamp {
        let shift: Int64 = 8 * 3600, day: Int64 = 86_400
        let local = moment.epochSeconds + shift
        return Timestamp(epochSeconds: local - local % day - shift)
    }

    /// Devices that have got as many pushes today as a phone shows.
    func warnings(_ result: AudienceResult) -> [Diagnostic] {
        Self.facts(result.reachedToday, of: result.audience, caps).map { fact in
            warning(
                .makerCap, fact.message,
                remedy: "Send it on another day, or leave such devices out: \(Self.frequency(fact.pushes)).")
        }
    }

    /// - Parameter reached: devices by the number of the highest cap that they reach.
    static func facts(
        _ reached: [Int: Int], of audience: Int, _ caps: [(pushes: Int, phones: [String])]
    ) -> [(message: String, pushes: Int)] {
        var devices = 0
        let counts = caps.indices.compactMap { number -> (devices: Int, cap: (pushes: Int, phones: [String]))? in
            // A device that reaches a higher cap reaches this one, too.
            devices += reached[number, default: 0]
            return devices > 0 ? (devices, caps[number]) : nil
        }
        guard
            let usual = counts.max(by: { ($0.cap.phones.count, $1.cap.pushes) < ($1.cap.phones.count, $0.cap.pushes) })
        else {
            return []
        }
        let parts = counts.reversed().map { devices, cap in
            "\(TextFormat.count(devices)) got \(cap.pushes == 1 ? "a push" : "\(cap.pushes) pushes") of the app or more, all that "
                + "\(words(cap)) show of its marketing in a day"
        }
        let all = TextFormat.devices(audience)
        return [("of these \(all), today in China \(parts.joined(separator: "; and "))", usual.cap.pushes)]
    }

    // MARK: - Nights

    /// Pushes that go out at night, by the clocks of devices where the campaign goes by them, and
    /// otherwise by China's.
    func warnings(_ pace: PaceLint) -> [Diagnostic] {
        let hours = PhoneMaker.nightHours
        guard let night = try? QuietHours("\(Self.hour(hours.lowerBound))-\(Self.hour(hours.upperBound))") else {
            return []
        }
        let schedule = pace.schedule?.schedule
        let isByDevice = schedule.map { $0.zone.isRecipient || $0.quietHours != nil } ?? false
        let china = try? ZoneDatabase.system.zone(named: "Asia/Shanghai")
        let devices = services.filter { $0 < pace.services.count }.reduce(0) { sum, number in
            let service = pace.services[number]
            let perSecond = service.exactSecondsAtPace.map { Double(service.recipients) / max(0.001, $0) }
            return sum
                + Self.count(at: night, pace.departures(service), perSecond: perSecond) {
                    isByDevice ? $0.zone ?? china : china
                }
        }
        guard devices > 0 else { return [] }
        let makers = PhoneMaker.allCases.filter(\.isQuietAtNight).map(\.displayName)
        return [
            warning(
                .makerQuietHours,
                "\(context.app.main.service.recipients(devices)) \(TextFormat.plural(devices, one: "goes", many: "go")) out between "
                    + "\(Self.hour(hours.lowerBound)) and \(Self.hour(hours.upperBound)) \(isByDevice ? "by their clocks" : "in China"), when "
                    + "\(Self.words((0, makers))) may show nothing",
                at: context.campaign.schedulePosition,
                remedy: "Choose another time, or a faster pace\(Self.holding(night, schedule, china)).")
        ]
    }

    /// What holds pushes until the morning; blank where the schedule goes by another clock, whose
    /// hours are other ones.
    private static func holding(_ night: QuietHours, _ schedule: Schedule?, _ china: ZoneRules?) -> String {
        guard let schedule else {
            return "; schedule: {timezone: Asia/Shanghai, quiet_hours: \(night)} holds pushes until they end"
        }
        guard schedule.quietHours == nil, schedule.zone.isRecipient || schedule.zone.fallback.name == china?.name else {
            return ""
        }
        return "; quiet_hours: \(night) under 'schedule' holds pushes until they end"
    }

    /// How many devices get their push in hours of the night.
    /// - Parameter perSecond: nil for all at once.
    static func count(
        at night: QuietHours, _ departures: [PaceLint.Departure], perSecond: Double?,
        clock: (PaceLint.Departure) -> ZoneRules?
    ) -> Int {
        var count = 0, free = Timestamp(epochSeconds: 0)
        for departure in departures where departure.devices > 0 {
            let begin = max(free, departure.start)
            free = begin.adding(seconds: perSecond.map { Double(departure.devices) / $0 } ?? 0)
            guard let zone = clock(departure) else { continue }
            func sent(until moment: Timestamp) -> Int {
                guard let perSecond else { return departure.devices }
                return min(departure.devices, Int(Double(moment.epochSeconds - begin.epochSeconds) * perSecond))
            }
            if night.contains(begin, in: zone) {
                count += sent(until: night.end(from: begin, in: zone))
            } else {
                count += departure.devices - sent(until: night.begin(from: begin, in: zone))
            }
        }
        return count
    }

    // MARK: - Words

    private static func hour(_ hour: Int) -> String { LocalTime(minutes: hour * 60).timeOfDay }

    private static func frequency(_ pushes: Int) -> String { "frequency: at most \(pushes) per day under 'delivery'" }

    /// `phones of Huawei, Honor and vivo`
    private static func words(_ cap: (pushes: Int, phones: [String])) -> String { "phones of \(list(cap.phones))" }

    /// `a, b and c`
    private static func list(_ names: [String]) -> String {
        names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " and \(names[names.count - 1])"
    }
}
