import Base
public import PushServices

/// Reads what says that a service chooses the devices: `audience: {by: …}`. Then nothing may need
/// to know them.
struct OwnAudienceReader {
    /// The audience.
    let section: Section
    /// Those that take the app's pushes; of a run's frozen campaign, the one by which it goes to
    /// the audience.
    let services: [any PushService]

    static let key = "by"
    /// The key of a broadcast channel, which names the service, too: there is one that has them.
    static let channelKey = "channel"
    /// Keys of an audience that are about the devices of an export.
    static let keysOfExports = ["devices", "where", "exclude", "alias_limit", "max_bad_rows", "shrinks_at_most"]

    private var findings: Findings { section.findings }

    /// The service that chooses the devices, as named; nil if Volley does. What is wrong with it
    /// was reported.
    func by() -> SourceText? {
        let keeping = PushServices.keepingAudiences
        guard let name = section.text(Self.key, example: "\(Self.key): \(keeping.first?.name ?? "")") else {
            return nil
        }
        let list = orList(names(keeping))
        guard let service = PushServices.all.first(where: { $0.name == name.value }) else {
            let meant = PushServices.meant(by: name.value).flatMap { meant in names(keeping).first { $0 == meant.name }
            }
            findings.error(
                "there is no service \(quoted(name.value)) that chooses devices", at: name.position,
                remedy: meant.map { "Did you mean '\($0)'?" }
                    ?? "Write \(Self.key): \(list), or remove the key: then Volley chooses the devices of an export.")
            return name
        }
        if !names(keeping).contains(service.name) {
            findings.error(
                "\(service.displayName) keeps no audiences, so it cannot choose devices", at: name.position,
                remedy:
                    "Remove the key: then Volley chooses the devices of an export. Those that keep audiences: \(list).")
        } else if !services.contains(where: { $0.accountName == name.value }) {
            findings.error(
                "\(service.displayName) is not among the app's services", at: name.position,
                remedy:
                    "The app has \(services.map(\.accountName).joined(separator: ", ")). Add \(service.displayName) to it in volley.yaml, or remove the key."
            )
        }
        return name
    }

    private func names(_ services: [any PushService]) -> [String] { services.map(\.name) }

    // MARK: - Broadcasts

    /// The audience of a broadcast; what is wrong in it was reported. nil if no service has
    /// channels.
    func broadcast() -> CampaignAudience? {
        guard let service = PushServices.broadcasting, let kind = service.ownAudience?.names(.channel) else {
            return nil
        }
        var audience = CampaignAudience(position: section.position)
        for entry in section.entries where entry.key.value != Self.channelKey && section.has(entry.key.value) {
            findings.error(
                "'\(Self.channelKey)' is used alone: phones follow a channel by themselves, and '\(entry.key.value)' is about other devices",
                at: entry.key.position, remedy: "Remove '\(entry.key.value)', or remove '\(Self.channelKey)'.")
        }
        let place = section.node(Self.channelKey)?.position ?? section.position
        if !services.contains(where: { $0.accountName == service.name }) {
            findings.error(
                "a broadcast channel goes through \(service.displayName), and the app has \(services.map(\.displayName).joined(separator: " and "))",
                at: place, remedy: "Add \(service.displayName) to the app in volley.yaml, or name an app that has it.")
        }
        audience.by = SourceText(service.name, at: place)
        guard let id = section.text(Self.channelKey, example: "\(Self.channelKey): \(Self.channelExample)") else {
            return audience
        }
        if let mistake = kind.mistake(about: id.value, in: service.displayName) {
            findings.error(mistake, at: id.position)
        }
        audience.channel = id
        return audience
    }

    static let channelExample = "dHN0LXNyY2gtY2hubA=="

    /// Reports what is not possible in a campaign that is broadcast.
    private static func checkBroadcast(
        _ root: Section, _ content: MessageContent?, _ delivery: Section?, _ expiry: Expiry?, _ rules: BroadcastRules
    ) {
        let findings = root.findings
        let names = orList(rules.events.map(\.rawValue))
        if let activity = content?.activity, !rules.events.contains(activity.event) {
            findings.error(
                "a broadcast cannot \(activity.event.rawValue) an activity", at: activity.position,
                remedy: "Write event: \(names). To start it, write a campaign for the devices of an export.")
        } else if !root.mentions("activity") {
            let place = root.node("audience")?.position ?? root.position
            findings.error(
                "a broadcast updates or ends Live Activities, and this campaign has no 'activity'", at: place,
                remedy: "Add it, for example: \(ActivityReader.example).")
        }
        let reasons = [
            "collapse": "phones show the newest state anyway", "pace": "it is one request",
            "stop_when": "it is one request",
            "frequency": "Volley does not know its devices",
        ]
        for key in reasons.keys.sorted() where delivery?.has(key) == true {
            findings.error(
                "a broadcast has no '\(key)': \(reasons[key] ?? "")", at: delivery?.place(of: key) ?? root.position,
                remedy: "Remove it.")
        }
        if case .after(let seconds)? = expiry, seconds > rules.longestStorageSeconds {
            let hours = rules.longestStorageSeconds / 3600
            findings.error(
                "a channel keeps a broadcast for \(hours) hours at most",
                at: delivery?.node("expires")?.position ?? root.position,
                remedy: "Write expires: \(hours)h or less.")
        }
    }

    // MARK: - The audience

    /// Reports what is not possible in an audience when the service chooses the devices.
    /// - Returns: whether its tags are a plain list, so that other checks of them make sense.
    func check(_ audience: CampaignAudience, _ own: OwnAudience) -> Bool {
        let chooser = own.service.displayName
        for key in Self.keysOfExports where section.has(key) {
            findings.error(
                "'\(key)' is about the devices of an export, but \(chooser) chooses the devices",
                at: section.place(of: key),
                remedy: "Remove it; or remove '\(Self.key)', so that Volley chooses the devices.")
        }
        for (selector, list) in audience.selectors { check(list, of: selector, own) }
        guard case .mapping(let entries)? = section.node("tags")?.content else { return true }
        let forms = entries.filter { ["all", "none"].contains($0.key.value) }
        for entry in forms {
            findings.error(
                "\(chooser) sends to devices that have any of the tags, and knows no '\(entry.key.value)' in a campaign",
                at: entry.key.position, remedy: "Write a list: tags: [one, two].")
        }
        return forms.isEmpty
    }

    private func check(_ list: NameList, of selector: AudienceCall.Selector, _ own: OwnAudience) {
        guard section.has(selector.rawValue) else { return }
        guard let kind = own.names(selector) else {
            return findings.error(
                "\(own.service.displayName) keeps no audiences of \(selector.nouns)",
                at: section.place(of: selector.rawValue),
                remedy: "It chooses devices by \(orList(own.names.map(\.selector.nouns))).")
        }
        for name in list.names {
            if let mistake = kind.mistake(about: name.value, in: own.service.displayName) {
                findings.error(mistake, at: name.position)
            }
        }
    }

    // MARK: - The campaign around it

    /// Reports what is not possible in a campaign when the service chooses the devices.
    static func check(
        _ root: Section, _ content: MessageContent?, _ sections: (delivery: Section?, schedule: Section?),
        _ expiry: Expiry?,
        _ own: OwnAudience
    ) {
        let chooser = own.service.displayName
        if let rules = own.broadcasts { checkBroadcast(root, content, sections.delivery, expiry, rules) }
        func refuse(_ what: String, because: String, at place: SourcePosition, remedy: String) {
            root.findings.error("\(what) \(because), but \(chooser) chooses the devices", at: place, remedy: remedy)
        }
        if root.has("variants") {
            refuse(
                "'variants'", because: "are parts of an audience that Volley knows", at: root.place(of: "variants"),
                remedy: own.broadcasts == nil
                    ? "Remove them; for texts to compare, write a campaign for each tag." : "Remove them.")
        }
        let languages = (content?.languages ?? []) + (content?.services.flatMap(\.content.languages) ?? [])
        if let first = languages.first {
            refuse(
                "'languages'", because: "need the language of each device", at: first.language.position,
                remedy: own.broadcasts == nil
                    ? "Write one text, or a campaign for the tag of each language."
                    : "Write one text, or let the app choose it by the state; a channel for each language is possible, too."
            )
        }
        if own.broadcasts == nil, let section = sections.delivery, section.has("frequency") {
            refuse(
                "'frequency'", because: "counts the pushes of each device", at: section.place(of: "frequency"),
                remedy: "Remove it.")
        }
        if let zone = sections.schedule?.node("timezone")?.text, zone.value == ScheduleZoneReader.ownClock {
            refuse(
                "'timezone: \(zone.value)'", because: "needs the time zone of each device", at: zone.position,
                remedy: "Name one zone, for example: timezone: Asia/Shanghai.")
        }
    }
}

extension CampaignAudience {
    /// The names that choose devices where a service does, by their kind.
    public var selectors: [(selector: AudienceCall.Selector, list: NameList)] {
        var broadcast = NameList()
        broadcast.names = channel.map { [$0] } ?? []
        return [(.tags, anyTags), (.aliases, aliases), (.registrationIDs, registrationIDs), (.channel, broadcast)]
    }

    /// The audiences of the service that chooses the devices; nil if Volley does.
    public var ownAudience: OwnAudience? {
        let own = by.flatMap { PushServices.named($0.value)?.ownAudience }
        return own.flatMap { ($0.broadcasts == nil) == (channel == nil) ? $0 : nil }
    }
}
