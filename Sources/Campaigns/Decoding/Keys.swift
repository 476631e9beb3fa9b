import Base
import PushServices

/// The keys that one group of a file may hold.
struct KeyGroup: Sendable {
    /// As errors call it: `audience`; empty for the file itself.
    var name: String
    var valid: [String]
    /// Those that are also allowed there, but that no message lists.
    var unlisted: [String] = []
    /// Where keys may be those of an account: the service that has it.
    var service: (any PushService)?
    /// Whether it holds or names a secret, so that people write the secret itself in its place.
    var holdsSecrets = false
    /// Where keys name columns of exports: the services of the app, if they are known.
    var services: [any PushService] = []

    init(_ name: String, valid: [String], holdsSecrets: Bool = false) {
        self.name = name
        self.valid = valid
        self.holdsSecrets = holdsSecrets
    }

    /// The group where these services take the pushes: keys of `content` and `delivery` that none
    /// of them has are still read, so that they can be refused as what they are, but no message
    /// lists them.
    func carried(by services: [any PushService]) -> KeyGroup {
        let rules = services.map(\.rules)
        let lacking = valid.filter { key in
            if let key = ContentKey(rawValue: key) { return !rules.contains { $0.contentKeys.contains(key) } }
            if let key = DeliveryKey(rawValue: key) { return !rules.contains { $0.deliveryKeys.contains(key) } }
            return false
        }
        var group = self
        group.valid.removeAll(where: lacking.contains)
        group.unlisted += lacking
        return group
    }

    /// Whether two groups are the same but for what services have.
    func isSame(as other: KeyGroup) -> Bool {
        name == other.name && Set(valid + unlisted) == Set(other.valid + other.unlisted)
    }

    /// Whether a key is allowed there.
    func holds(_ key: String) -> Bool { valid.contains(key) || unlisted.contains(key) }

    /// `in 'audience'`
    var location: String { name.isEmpty ? "at the top level" : "in \(Self.shown(name))" }

    /// A key in quotes; a name that is not a key, such as `the variant`, without.
    static func shown(_ name: String) -> String { name.contains(" ") ? SecretText.hidden(in: name) : quoted(name) }
}

/// The keys of one kind of file: one table for reading, for the nearest name, and for telling where
/// a misplaced key belongs.
struct FileKeys: Sendable {
    var groups: [KeyGroup]

    /// Whether other keys are below a key.
    func takesGroup(_ key: String) -> Bool {
        groups.contains { $0.name == key }
            || [
                "languages", "data", "localized", "attributes", "state", "where", "variants", "payload", "apps",
                "databases", "cells",
            ]
            .contains(key)
    }

    /// What to say about a key that `group` does not have, and the key of the group that was
    /// probably meant.
    func mistake(about key: String, in group: KeyGroup) -> (mistake: Mistake, meant: String?) {
        if group.valid == ProjectKeys.namedServices.valid, let meant = PushServices.meant(by: key)?.name {
            return (Mistake("unknown key \(quoted(key)) \(group.location)", remedy: "Did you mean '\(meant)'?"), meant)
        }
        if let remedy = KeySynonyms.remedy(for: key, in: group) {
            return (Mistake("unknown key \(quoted(key)) \(group.location)", remedy: remedy.text), remedy.meant)
        }
        if let meant = meantKey(key, group) { return meant }
        return (mistake(aboutForeign: key, in: group), nil)
    }

    private func meantKey(_ key: String, _ group: KeyGroup) -> (Mistake, String?)? {
        if let colon = key.firstIndex(of: ":"), group.valid.contains(String(key[..<colon])) {
            return (
                Mistake("a space is missing after the ':' of \(quoted(key))", remedy: "Write it as 'name: value'."),
                String(key[..<colon])
            )
        }
        // Nothing longer is a typing slip, and computing its distance would be expensive.
        guard key.utf8.count <= 64, !groups.contains(where: { $0.valid.contains(key) }) else { return nil }
        guard let nearest = nearestName(to: key, among: group.valid) else { return nil }
        return (Mistake("unknown key \(quoted(key)) \(group.location)", remedy: "Did you mean '\(nearest)'?"), nearest)
    }

    private func mistake(aboutForeign key: String, in group: KeyGroup) -> Mistake {
        let message = "unknown key \(quoted(key)) \(group.location)"
        if group.isSame(as: CampaignKeys.stopWhen), key == "unknown" {
            // The outcome, not the setting of `delivery`.
            return Mistake(
                message, remedy: "No limit counts these pushes. Valid here: \(group.valid.joined(separator: ", ")).")
        }
        if let home = groups.first(where: { $0.valid.contains(key) }) {
            return Mistake(message, remedy: "It belongs \(home.location); check the indentation.")
        }
        return Mistake(message, remedy: "Valid here: \(group.valid.joined(separator: ", ")).")
    }
}

/// The groups of a campaign file.
enum CampaignKeys {
    static let root = KeyGroup(
        "",
        valid: [
            "name", "app", "description", "audience", "content", "activity", "variants", "delivery", "schedule",
            "allow",
        ])
    static let activity = KeyGroup(
        "activity", valid: ["event", "attributes_type", "attributes", "state", "stale", "dismiss", "relevance"])
    static let audience = KeyGroup(
        "audience",
        valid: [
            "devices", OwnAudienceReader.key, "tags", "aliases", "registration_ids", "everyone",
            OwnAudienceReader.channelKey, "where",
            "exclude", "alias_limit", "max_bad_rows", "shrinks_at_most",
        ])
    /// Devices from a database instead of files; volley.yaml has the same for apps.
    static let deviceQuery = KeyGroup("devices", valid: ["database", "query"])
    static let tags = KeyGroup("tags", valid: ["any", "all", "none", "file"])
    static let exclude = KeyGroup("exclude", valid: ["tags", "aliases", "registration_ids", "devices"])
    static let content: KeyGroup = {
        var group = KeyGroup(
            "content",
            valid: [
                "title", "subtitle", "body", "sound", "badge", "category", "thread", "image", "link", "data",
                "interruption", "relevance",
                "target_content", "filter", "localized", "wake_app", "silent", "payload", "languages",
            ])
        group.unlisted = [services]
        return group
    }()
    /// Holds what devices of single services get. It may be left out as long as an app has one.
    static let services = "services"
    static let namedServices = KeyGroup(services, valid: PushServices.all.map(\.name))

    /// What devices of a service get.
    static func content(of service: any PushService) -> KeyGroup {
        KeyGroup(service.name, valid: variantContent.valid + service.rules.ownKeys.map(\.key)).carried(by: [service])
    }

    static let variant = KeyGroup("the variant", valid: ["share", "content"])
    static let variantContent = KeyGroup(
        "the variant's content",
        valid: [
            "title", "subtitle", "body", "sound", "badge", "category", "thread", "image", "link", "data",
            "interruption", "relevance",
            "target_content", "filter", "localized", "payload", "languages",
        ])
    /// Texts that the app itself holds, and each of them in full.
    static let localized = KeyGroup("localized", valid: ["title", "subtitle", "body"])
    static let localizedText = KeyGroup("the text of the app", valid: ["key", "args"])
    static let translation = KeyGroup(
        "the language", valid: ["title", "subtitle", "body", "sound", "image", "link", "data", "payload"])
    static let delivery = KeyGroup(
        "delivery", valid: ["pace", "frequency", "expires", "priority", "collapse", "unknown", "stop_when", "track"])
    static let stopWhen = KeyGroup("stop_when", valid: StopLimits.outcomes.map(\.name) + ["after"])

    static let schedule = KeyGroup(
        "schedule", valid: ["at", "timezone", "fallback_timezone", "quiet_hours", "repeat", "late"])

    static let allowedWarning = KeyGroup("the entry of 'allow'", valid: ["warning", "reason"])

    static let file = FileKeys(
        groups: [
            root, audience, content, delivery, schedule, exclude, tags, stopWhen, variant, variantContent, translation,
            allowedWarning,
            namedServices, deviceQuery, activity,
        ])
}

/// The groups of volley.yaml.
enum ProjectKeys {
    static let root: KeyGroup = {
        var root = KeyGroup(
            "", valid: ["runs", "proxy", "notices", "monitoring", "console", "databases", "store", "apps"])
        root.service = PushServices.standard
        return root
    }()
    static let database = KeyGroup("the database", valid: ["url_env", "timeout"], holdsSecrets: true)
    static let store = KeyGroup("store", valid: ["postgres"])
    static let postgresStore = KeyGroup("postgres", valid: ["url_env"], holdsSecrets: true)
    static let notice = KeyGroup(
        "the entry of 'notices'", valid: ["webhook", "secret_env", "ca", "command", "events"], holdsSecrets: true)
    static let monitoring = KeyGroup("monitoring", valid: ["prometheus", "health"])
    static let console = KeyGroup("console", valid: ["public_url", "proxies", "roots", "oidc"])
    static let provider = KeyGroup(
        "oidc", valid: ["issuer", "client_id", "client_secret", "roles", "name", "name_claim", "scopes", "ca", "only"])
    static let clientSecret = KeyGroup("client_secret", valid: ["file", "env"], holdsSecrets: true)
    static let claimedRoles = KeyGroup("roles", valid: ["claim", "map"])
    static let testDevice: KeyGroup = {
        var group = KeyGroup("the test device", valid: ["name", "token", "alias", "language", "cells"])
        group.unlisted = [service]
        return group
    }()
    static let environment = KeyGroup("environment", valid: ["url", "ca"])
    static let proxy = KeyGroup("proxy", valid: ["url", "user", "password_env"], holdsSecrets: true)
    static let columns = columns(of: [], ofSeveral: false)
    static let serviceColumn = KeyGroup("service", valid: ["column", "map"])

    /// - Parameters:
    ///   - services: the app's; empty if they are not known.
    ///   - ofSeveral: whether the app has several services, so that people are told of the keys
    ///     that choose among them.
    static func columns(of services: [any PushService], ofSeveral: Bool) -> KeyGroup {
        var group = KeyGroup("columns", valid: ExportColumns.Standard.allCases.map(\.rawValue) + ["rows", "format"])
        group.services = services
        if ofSeveral {
            group.valid += targetColumns + [service, prefer]
        } else {
            group.unlisted = targetColumns + [service, prefer]
        }
        group.unlisted += ActivityTokens.allCases.map(\.rawValue)
        return group
    }

    /// The columns of services' targets, as far as they are not standard columns.
    static let targetColumns: [String] = PushServices.all.map(\.target.column).filter {
        ExportColumns.Standard(rawValue: $0) == nil
    }
    static let tags = KeyGroup("tags", valid: ["column", "separator"])

    /// Names the service that takes the pushes of an app. It may be left out as long as there is
    /// one.
    static let service = "service"
    /// Holds the accounts of further services.
    static let services = "services"
    /// The order in which services are chosen for a device that several reach.
    static let prefer = "prefer"
    static let namedServices = KeyGroup(services, valid: PushServices.all.map(\.name))

    /// The account of a service below `services`.
    static func account(of service: any PushService) -> KeyGroup {
        var group = KeyGroup(service.name, valid: service.account.keys + ["pace"], holdsSecrets: true)
        group.service = service
        return group
    }

    /// An app that uses a service: the keys of its account come first.
    static func app(of service: any PushService, name: String = "the app") -> KeyGroup {
        var group = KeyGroup(
            name,
            valid: service.account.keys + [
                "devices", "columns", "pace", "frequency", "approval", "test_devices", "proxy", "notices",
            ])
        group.unlisted = [self.service, services]
        group.service = service
        return group
    }

    /// An app of an unknown service: the keys of any account are allowed there.
    static func appOfUnknownService(name: String) -> KeyGroup {
        let accounts = PushServices.all.flatMap(\.account.keys)
        var group = app(of: PushServices.standard, name: name)
        (group.valid, group.unlisted, group.service) = (
            group.valid.filter { !accounts.contains($0) }, group.unlisted + accounts, nil
        )
        return group
    }

    /// The credential of an app.
    static func credential(_ form: CredentialForm) -> KeyGroup {
        KeyGroup(form.key, valid: form.fieldsBelow.map(\.key), holdsSecrets: true)
    }

    /// All groups of a file in which an app uses a service.
    static func file(of service: any PushService) -> FileKeys {
        FileKeys(
            groups: [root, app(of: service), environment] + service.account.credentials.map(credential)
                + [
                    proxy, columns, tags, testDevice, notice, monitoring, console, namedServices, serviceColumn,
                    database,
                    CampaignKeys.deviceQuery, store, postgresStore,
                ])
    }

    static let file = file(of: PushServices.standard)
}
