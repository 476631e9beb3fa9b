import Base
import PushServices

/// Turns the top level of a campaign file into a campaign.
struct CampaignReader {
    let root: Section
    let source: YAMLSource
    let now: Timestamp
    /// Says by an app's name which services take its pushes, at least one.
    let services: (String) -> [any PushService]

    /// What could be read; what could not was reported.
    func read() -> CampaignDraft {
        let name = root.requiredText("name", example: "name: spring-sale").flatMap {
            root.accepted($0, CampaignName.check)
        }
        let app = root.requiredText("app", example: "app: shop")
        let appServices = services(app?.value ?? "")
        let description = root.text("description", example: "description: Spring sale")
        let audience = section("audience", CampaignKeys.audience, example: "audience: {tags: [discount]}")
        let activity =
            root.has("activity") ? section("activity", CampaignKeys.activity, example: ActivityReader.example) : nil
        let content =
            activity != nil && !root.mentions("content")
            ? nil
            : section(
                "content", CampaignKeys.content.carried(by: appServices),
                example: "content: {title: Hello, body: \"How are you?\"}")
        let delivery =
            root.has("delivery")
            ? section("delivery", CampaignKeys.delivery.carried(by: appServices), example: "delivery: {expires: 4h}")
            : nil
        let schedule =
            root.has("schedule") ? section("schedule", CampaignKeys.schedule, example: ScheduleReader.example) : nil

        let readAudience = audience.map { AudienceReader(section: $0, services: appServices).read() }
        let own = readAudience?.ownAudience
        let services = own.map { [$0.service] } ?? appServices
        let readActivity = activity.flatMap { ActivityReader(section: $0, services: services).read() }
        var readContent = content.map { ContentReader(section: $0, source: source, services: services).read() }
        if let readActivity, content != nil || !root.mentions("content") {
            var alert = readContent ?? MessageContent(position: readActivity.position)
            alert.activity = readActivity
            ActivityReader.check(alert, content, readActivity, root.findings)
            readContent = alert
        }
        let (variants, dealing) = VariantReader(root: root, source: source, services: services, content: readContent)
            .read()
        if readContent?.activity != nil {
            variants.compactMap(\.content).forEach { ActivityReader.check($0, root.findings) }
        }
        let readDelivery =
            delivery.map { DeliveryReader(section: $0, now: now, services: services).read() } ?? CampaignDelivery()
        let readSchedule = schedule.flatMap { ScheduleReader(section: $0, now: now).read() }
        if let schedule, let readSchedule { checkExpiry(of: readDelivery, for: readSchedule, schedule) }
        if let text = delivery?.node("expires")?.text, let readSchedule {
            checkZone(of: text, readDelivery.expiry, for: readSchedule)
        }
        if let own { OwnAudienceReader.check(root, readContent, (delivery, schedule), readDelivery.expiry, own) }
        let allowed = AllowReader(root: root).read()
        if let readContent { checkPriority(of: readDelivery, for: readContent, services) }
        if let delivery, let readContent { noteLosses(of: readDelivery, delivery, for: readContent, services) }
        var draft = CampaignDraft(app: app, audience: readAudience, content: readContent, variants: variants)
        draft.isCampaign = true
        draft.mayHaveTimes =
            schedule.map { section in
                (readSchedule?.hasTimes ?? true) || ["at", "repeat"].contains(where: section.mentions)
            }
            ?? root.mentions("schedule")
        if let name, let app, let readAudience, let readContent {
            draft.campaign = Campaign(
                file: source.file, source: source.text, name: name, app: app, description: description?.value,
                audience: readAudience,
                content: readContent, variants: variants, variantDealing: dealing, delivery: readDelivery,
                schedule: readSchedule,
                schedulePosition: schedule.map { $0.node("timezone")?.position ?? $0.position }, allowed: allowed)
        }
        return draft
    }

    private func section(_ key: String, _ group: KeyGroup, example: String) -> Section? {
        root.required(key, example: example).flatMap {
            Section($0, group, of: CampaignKeys.file, example: example, findings: root.findings)
        }
    }

    /// An expiry that is a moment may come before the push is sent. One that is a length of time
    /// counts from the sending.
    private func checkExpiry(of delivery: CampaignDelivery, for schedule: Schedule, _ section: Section) {
        guard case .at(let expiry)? = delivery.expiry else { return }
        if schedule.repeat != nil {
            root.findings.warning(
                .expiresBeforeSchedule,
                message:
                    "the expiry \(expiry) is a single moment, but 'repeat' continues after it: then nothing would be sent any more",
                at: section.node("repeat")?.position ?? section.position,
                remedy: "Write a time from the start, for example expires: 4h.")
            return
        }
        guard let at = schedule.at else { return }
        let occurrence = schedule.occurrence(at: at)
        let zone = schedule.zone.fallback
        // The end of quiet hours is known only when there is a single clock; otherwise they end at
        // different moments.
        let isHeld = schedule.quietHours != nil && !schedule.zone.isRecipient
        let last =
            isHeld ? schedule.quietHours?.end(from: occurrence.ends, in: zone) ?? occurrence.ends : occurrence.ends
        guard last >= expiry else { return }
        let when =
            last > occurrence.ends ? "when the quiet hours end" : schedule.zone.isRecipient ? "in some zones" : "then"
        root.findings.warning(
            .expiresBeforeSchedule,
            message: "\(at.words) is too late for the expiry \(expiry): \(when) nothing would be sent any more",
            at: section.node("at")?.position ?? section.position,
            remedy: "Write a later expiry, or a time from the start such as expires: 4h.")
    }

    /// An expiry in UTC next to a time on a place's clock is easily taken for a time on that clock.
    private func checkZone(of text: SourceText, _ expiry: Expiry?, for schedule: Schedule) {
        guard case .at(let moment)? = expiry, schedule.hasTimes || schedule.quietHours != nil,
            !Expiry.saysZone(text.value)
        else { return }
        let zone = schedule.zone.fallback
        let local = zone.localTime(at: moment)
        let utc = LocalTime(minutes: LocalTime.minutes(of: moment))
        guard local != utc else { return }
        let (ahead, minutes) = (local.minutes >= utc.minutes, abs(local.minutes - utc.minutes))
        let offset = "\(ahead ? "+" : "-")\(LocalTime(minutes: minutes).timeOfDay)"
        root.findings.warning(
            .expiresInUTC,
            message:
                "the expiry \(quoted(text.value)) is in UTC: it is \(local.words) in \(zone.name), whose clock the schedule uses",
            at: text.position,
            remedy: "Write \(utc.words) \(offset) for the clock of \(zone.name), or \(utc.words) +00:00.")
    }

    /// What services carry out on some phones only. Phones that another service of the app is for
    /// are not reached through them.
    private func noteLosses(
        of delivery: CampaignDelivery, _ section: Section, for content: MessageContent, _ services: [any PushService]
    ) {
        let served = Set(services.compactMap { $0.system?.phones })
        for service in services {
            let own = content.services.first { $0.service.value == service.accountName }?.content.own ?? []
            for loss in service.rules.deliveryLosses
            where section.has(loss.key.rawValue) && !served.contains(loss.phones) {
                // iPhones alone have activities, which have a priority.
                if content.activity != nil, loss.key != .expires { continue }
                // What a push has without it, too.
                if loss.key == .priority, delivery.priority == nil || delivery.priority == .high { continue }
                if let substitute = loss.substitute, own.has(substitute.key, in: substitute.group) { continue }
                root.findings.note(loss, of: service, at: section.place(of: loss.key.rawValue))
            }
        }
    }

    private func checkPriority(
        of delivery: CampaignDelivery, for content: MessageContent, _ services: [any PushService]
    ) {
        if content.activity != nil, delivery.priority == .low, let place = delivery.priorityPosition {
            root.findings.error(
                "an activity has the priority high or normal", at: place, remedy: "Write priority: normal.")
        }
        guard content.isSilent, let priority = delivery.priority, let place = delivery.priorityPosition,
            let service = services.first(where: { $0.rules.silentPriority.map { $0 != priority } ?? false }),
            let only = service.rules.silentPriority
        else { return }
        root.findings.error(
            "a silent push must go out with priority \(only) (\(only.rawValue)): \(service.displayName) refuses any other for background pushes",
            at: place, remedy: "Write priority: \(only), or remove the key.")
    }
}

/// The rules for a campaign's name, which becomes part of file names and run ids.
enum CampaignName {
    static let maximumLength = 64

    /// Accepts `[a-z0-9-]`, 1 to 64 characters.
    static func check(_ name: String) throws(Mistake) {
        let remedy = suggestion(for: name).map { "Write name: \($0)." } ?? "For example: name: spring-sale."
        guard name.utf8.allSatisfy(isAllowed) else {
            throw Mistake(
                "the name \(quoted(name)) may hold only lower-case letters a-z, digits and hyphens", remedy: remedy)
        }
        guard name.utf8.count <= maximumLength else {
            throw Mistake("the name \(quoted(name)) is longer than \(maximumLength) characters", remedy: remedy)
        }
    }

    /// The nearest allowed name; nil when no letter or digit is left.
    static func suggestion(for name: String) -> String? {
        var repaired: [UInt8] = []
        for byte in name.lowercased().utf8 where repaired.count < maximumLength {
            let isLetter = isAllowed(byte) && byte != UInt8(ascii: "-")
            if isLetter {
                repaired.append(byte)
            } else if repaired.last != UInt8(ascii: "-"), !repaired.isEmpty {
                repaired.append(UInt8(ascii: "-"))
            }
        }
        while repaired.last == UInt8(ascii: "-") { repaired.removeLast() }
        return repaired.isEmpty ? nil : String(decoding: repaired, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

extension Campaign {
    /// Whether a campaign can be called so: 1 to 64 of `[a-z0-9-]`.
    public static func isName(_ text: String) -> Bool { !text.isEmpty && (try? CampaignName.check(text)) != nil }
}

/// Reads `allow`: warnings that a campaign silences, and why.
struct AllowReader {
    let root: Section

    private var findings: Findings { root.findings }
    private static let example = "allow: [{warning: text-cut-off, reason: \"The important part comes first.\"}]"

    /// Every warning that can be allowed, by its name and by those that it had.
    static let names = warnings.map(\.rawValue) + WarningName.retired.keys.sorted()
    private static let warnings = WarningName.allCases.filter { $0 != .unusedAllow }

    /// The warnings, in the order of the file; what is wrong in them was reported.
    func read() -> [AllowedWarning] {
        guard let node = root.node("allow") else { return [] }
        guard case .sequence(let items) = node.content, !items.isEmpty else {
            root.wrongKind("'allow'", node, must: "a list of warnings with reasons", example: Self.example)
            if case .sequence = node.content {
                findings.error("'allow' is empty", at: node.position, remedy: "Remove it.")
            }
            return []
        }
        var seen: Set<String> = []
        return items.compactMap { item in
            guard let allowed = entry(item) else { return nil }
            if !seen.insert(allowed.written).inserted {
                findings.error(
                    "'\(allowed.written)' is allowed twice", at: allowed.position, remedy: "Keep one of them.")
            }
            return allowed
        }
    }

    private func entry(_ node: YAMLNode) -> AllowedWarning? {
        if let text = node.text, !node.isNull {
            // `allow: [text-cut-off]`, without a reason.
            findings.error(
                "'\(text.value)' has no reason", at: node.position,
                remedy: "Write {warning: \(text.value), reason: \"…\"}, so that others know why.")
            return nil
        }
        guard
            let section = Section(
                node, CampaignKeys.allowedWarning, of: CampaignKeys.file,
                example: "{warning: text-cut-off, reason: \"…\"}",
                findings: findings)
        else { return nil }
        let name = section.requiredText("warning", example: "warning: text-cut-off")
        let reason = section.requiredText("reason", example: "reason: \"The important part comes first.\"")
        let written = String((name?.value ?? "").trimmingSpaces().drop { $0 == "[" }.prefix { $0 != "]" })
        guard let name, let known = known(written, at: name), let reason else { return nil }
        return AllowedWarning(name: known, written: written, reason: reason.value, position: name.position)
    }

    private func known(_ written: String, at text: SourceText) -> WarningName? {
        if let name = WarningName.retired[written] ?? Self.warnings.first(where: { $0.rawValue == written }) {
            return name
        }
        let nearest = text.value.utf8.count <= 64 ? nearestName(to: written, among: Self.warnings.map(\.rawValue)) : nil
        findings.error(
            "there is no warning \(quoted(text.value))", at: text.position,
            remedy: nearest.map { "Did you mean '\($0)'?" } ?? "A warning's name is in brackets at its end.")
        return nil
    }
}
