import Base
import PushServices

/// Settings as the run file keeps them.
extension RunSettings {
    /// The settings as JSON.
    var json: JSONValue { json(of: PushServices.ofRuns) }

    /// The settings as JSON. What belongs to the first service stands where files of every version
    /// have it; further services are listed.
    /// - Parameter known: the services that they may name.
    func json(of known: [any PushService]) -> JSONValue {
        let first = firstService.parts(of: known)
        let members: [(String, JSONValue)] = [
            ("push_type", .string(pushType.rawValue)),
            ("priority", .integer(Int64(priority.rawValue))),
            ("expires", expiry?.json ?? .null),
            ("collapse", optional(collapseID)),
            ("pace", first.pace),
            ("app_pace", first.appPace),
            ("unknown", .string(unknownPolicy.rawValue)),
            ("stop_when", stopLimits?.json ?? .null),
            ("schedule", schedule?.json ?? .null),
            ("frequency", .array(frequencyCaps.map { $0.json })),
            ("approval", .string(needsApproval ? "required" : "none")),
            ("rendering", .integer(Int64(renderingRules))),
            ("runs", optional(runsFolder)),
            ("parent_life", optional(parentEpoch)),
            ("retried_outcomes", retriedOutcomes.map { .array($0.map(\.name).sorted().map { .string($0) }) } ?? .null),
            ("campaign_file", optional(realCampaignFile)),
            ("scheduler", .bool(isOfScheduler)),
            ("place", place?.json ?? .null),
            ("beside", .array(beside.map { .string($0) })),
            first.service,
        ]
        let further = services.dropFirst().map { $0.json(of: known) }
        let devicePaces = [("device_pace", devicePace), ("app_device_pace", appDevicePace)].compactMap { name, pace in
            pace.map { (name, $0.json) }
        }
        let channel = channel.map { [("channel", JSONValue.string($0))] } ?? []
        let inStore = plannedInStore.map { [("planned_in_store", JSONValue.integer($0.epochMilliseconds))] } ?? []
        return .object(
            pairs: first.account + members + inStore + channel + devicePaces
                + (further.isEmpty ? [] : [("services", .array(further))]))
    }

    /// Reads what `json` wrote.
    /// - Parameter services: those that it may name.
    /// - Throws: a `Diagnostic` when a member is missing or invalid: another program wrote the run
    ///   file.
    init(json: JSONValue, runFile: String, services: [any PushService] = PushServices.ofRuns) throws(Diagnostic) {
        func need<Value>(_ value: Value?, name: String) throws(Diagnostic) -> Value {
            try Self.need(value, name, runFile)
        }
        self.services = [try ServiceSettings(json: json, of: services, runFile: runFile)]
        if let further = json["services"] {
            guard case .array(let further) = further else { throw Self.unreadable("services", runFile) }
            self.services += try further.map { json throws(Diagnostic) in
                var service = try ServiceSettings(json: json, of: services, runFile: runFile)
                service.unknownPolicy = json["unknown"]?.stringValue.flatMap(UnknownPolicy.init(rawValue:))
                return service
            }
            guard Set(self.services.map(\.serviceName)).count == self.services.count else {
                throw Self.unreadable("services", runFile)
            }
        }
        pushType = try need(json["push_type"]?.stringValue.flatMap(PushType.init(rawValue:)), name: "push_type")
        priority = try need(
            json["priority"]?.integerValue.flatMap { PushPriority(rawValue: Int($0)) }, name: "priority")
        if let expires = json["expires"], expires != .null { expiry = try need(Expiry(json: expires), name: "expires") }
        collapseID = json["collapse"]?.stringValue
        channel = json["channel"]?.stringValue
        unknownPolicy = try need(json["unknown"]?.stringValue.flatMap(UnknownPolicy.init(rawValue:)), name: "unknown")
        // Plans of older versions have none.
        if let schedule = json["schedule"], schedule != .null {
            self.schedule = try need(FrozenSchedule(json: schedule), name: "schedule")
        }
        // Plans of older versions have none.
        if case .array(let caps)? = json["frequency"] {
            frequencyCaps = try caps.map { cap throws(Diagnostic) in
                try need(FrequencyCap(json: cap), name: "frequency")
            }
        }
        // Plans of older versions know none.
        needsApproval = json["approval"]?.stringValue == "required"
        renderingRules = json["rendering"]?.integerValue.map { Int($0) } ?? 1
        runsFolder = json["runs"]?.stringValue
        parentEpoch = json["parent_life"]?.stringValue
        if case .array(let names)? = json["retried_outcomes"] {
            retriedOutcomes = Set(names.compactMap { name in Outcome.allCases.first { $0.name == name.stringValue } })
        }
        realCampaignFile = json["campaign_file"]?.stringValue
        isOfScheduler = json["scheduler"] == .bool(true)
        place = json["place"].flatMap { EpochSequence.Place(json: $0) }
        plannedInStore = json["planned_in_store"]?.integerValue.map { Timestamp(epochMilliseconds: $0) }
        if case .array(let runs)? = json["beside"] { beside = runs.compactMap(\.stringValue) }
        // Plans of older versions have none: their services' paces are parts of the campaign's.
        devicePace = try Self.pace("device_pace", of: json, runFile)
        appDevicePace = try Self.pace("app_device_pace", of: json, runFile)
        // Plans of older versions have none.
        if let limits = json["stop_when"], limits != .null {
            stopLimits = try need(StopLimits(json: limits), name: "stop_when")
        }
    }

    private func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    fileprivate static func need<Value>(_ value: Value?, _ name: String, _ runFile: String) throws(Diagnostic) -> Value
    {
        guard let value else { throw unreadable(name, runFile) }
        return value
    }

    /// A pace that cannot be read is not one without a limit.
    fileprivate static func pace(_ name: String, of json: JSONValue, _ runFile: String) throws(Diagnostic) -> Pace? {
        guard let pace = json[name], pace != .null else { return nil }
        return try need(Pace(json: pace), name, runFile)
    }

    private static func unreadable(_ name: String, _ runFile: String) -> Diagnostic {
        Diagnostic("the run file's setting '\(name)' cannot be read", file: runFile, remedy: "Plan the campaign again.")
    }
}

extension ServiceSettings {
    /// Between a service's name and the switches that are on. A version of Volley without these
    /// switches must not send such a run.
    private static let separator = "+"

    /// The members of its JSON. Each credential that the service takes has one, as in files of
    /// every version.
    fileprivate func parts(
        of known: [any PushService]
    ) -> (account: [(String, JSONValue)], pace: JSONValue, appPace: JSONValue, service: (String, JSONValue)) {
        let credentials = (known.first { $0.name == serviceName } ?? service).account.credentials.map { form in
            (form.key, credential?.json(form) ?? .null)
        }
        return (
            [("environment", environment.json), ("topic", .string(topic))] + credentials, pace?.json ?? .null,
            appPace?.json ?? .null,
            ("service", .string(([serviceName] + switchedOn.sorted()).joined(separator: Self.separator)))
        )
    }

    /// As one of several services.
    fileprivate func json(of known: [any PushService]) -> JSONValue {
        let parts = parts(of: known)
        return .object(
            pairs: [parts.service] + parts.account + [("pace", parts.pace), ("app_pace", parts.appPace)]
                + (unknownPolicy.map { [("unknown", .string($0.rawValue))] } ?? []))
    }

    /// Reads the members that `parts` are, from an object that may have others.
    fileprivate init(json: JSONValue, of known: [any PushService], runFile: String) throws(Diagnostic) {
        func need<Value>(_ value: Value?, name: String) throws(Diagnostic) -> Value {
            try RunSettings.need(value, name, runFile)
        }
        var words = [PushServices.standard.name]
        // Plans of older versions name none.
        if let service = json["service"], service != .null {
            words = try need(service.stringValue, name: "service").split(
                separator: Self.separator, omittingEmptySubsequences: false
            ).map(
                String.init)
        }
        let name = words[0], switches = Set(words.dropFirst())
        let service = try need(
            known.first { $0.name == name && switches.isSubset(of: $0.account.switches.map(\.key)) }, name: "service")
        self.init(
            environment: try need(
                json["environment"].flatMap { FrozenEnvironment(json: $0, of: service) }, name: "environment"),
            topic: try need(json["topic"]?.stringValue, name: "topic"))
        (serviceName, switchedOn) = (name, switches)
        credential = service.account.credentials.lazy.compactMap { FrozenCredential(json: json[$0.key], $0) }.first
        pace = try RunSettings.pace("pace", of: json, runFile)
        // Plans of older versions have none.
        appPace = try RunSettings.pace("app_pace", of: json, runFile)
    }
}

extension FrozenEnvironment {
    fileprivate var json: JSONValue {
        if case .named(let server) = self, let region = server.region {
            return .object(pairs: [("name", .string(server.name)), (EnvironmentForm.regionKey, .string(region))])
        }
        guard case .server(let host, let port, let authority) = self else { return .string(name) }
        return .object(pairs: [
            ("host", .string(host)), ("port", .integer(Int64(port))), ("ca", authority.map { .string($0) } ?? .null),
        ])
    }

    fileprivate init?(json: JSONValue, of service: any PushService) {
        if let name = json.stringValue {
            guard name != Self.simulator.name else {
                self = .simulator
                return
            }
            guard let environment = service.account.environments.named(name) else { return nil }
            self = .named(environment)
        } else if let name = json["name"]?.stringValue {
            guard let environment = service.account.environments.named(name),
                let region = json[EnvironmentForm.regionKey]?.stringValue.flatMap(service.account.environments.region)
            else { return nil }
            self = .named(environment.at(region))
        } else {
            guard let host = json["host"]?.stringValue, let port = json["port"]?.integerValue else { return nil }
            self = .server(
                host: Self.normalized(host: host), port: Int(port), certificateAuthority: json["ca"]?.stringValue)
        }
    }
}

extension FrozenCredential {
    /// nil for a credential of another form.
    fileprivate func json(_ form: CredentialForm) -> JSONValue? {
        guard form.key == self.form else { return nil }
        var members = form.fields.map { ($0.key, values[$0.key].map { JSONValue.string($0) } ?? .null) }
        if case .signingKey = form.kind {
            members.append((Self.fingerprintKey, fingerprint.map { .string($0) } ?? .null))
        }
        return .object(pairs: members)
    }

    /// nil for a form that the settings do not use.
    fileprivate init?(json: JSONValue?, _ form: CredentialForm) {
        guard let json else { return nil }
        let found = form.fields.compactMap { field in json[field.key]?.stringValue.map { (field.key, $0) } }
        let values = Dictionary(found) { first, _ in first }
        guard form.isComplete(values.keys) else { return nil }
        self.init(form: form.key, values: values, fingerprint: json[Self.fingerprintKey]?.stringValue)
    }

    private static let fingerprintKey = "fingerprint"
}

extension EpochSequence.Place {
    fileprivate var json: JSONValue { .object(pairs: [("number", .integer(Int64(number))), ("life", .string(epoch))]) }

    fileprivate init?(json: JSONValue) {
        guard let number = json["number"]?.integerValue, let epoch = json["life"]?.stringValue else { return nil }
        self.init(number: Int(number), epoch: epoch)
    }
}

/// Lengths of time that a run file may hold.
private enum StoredSeconds {
    /// Up to 272 years, whose nanoseconds still fit into an `Int`.
    static let range: ClosedRange<Int64> = 1...1 << 33
}

extension Pace {
    fileprivate var json: JSONValue {
        .object(pairs: [("pushes", .integer(Int64(pushes))), ("seconds", .integer(Int64(intervalSeconds)))])
    }

    fileprivate init?(json: JSONValue) {
        guard let pushes = json["pushes"]?.integerValue, let seconds = json["seconds"]?.integerValue,
            (1...1 << 40).contains(pushes),
            [1, 60, 3600].contains(seconds)
        else { return nil }
        self.init(pushes: Int(pushes), intervalSeconds: Int(seconds))
    }
}

extension FrequencyCap {
    fileprivate var json: JSONValue {
        .object(pairs: [("pushes", .integer(Int64(pushes))), ("seconds", .integer(Int64(seconds)))])
    }

    fileprivate init?(json: JSONValue) {
        guard let pushes = json["pushes"]?.integerValue, let seconds = json["seconds"]?.integerValue,
            (1...1 << 40).contains(pushes),
            StoredSeconds.range.contains(seconds)
        else { return nil }
        self.init(pushes: Int(pushes), seconds: Int(seconds))
    }
}

extension Expiry {
    fileprivate var json: JSONValue {
        switch self {
        case .immediately: .integer(0)
        case .after(let seconds): .object(pairs: [("after_seconds", .integer(Int64(seconds)))])
        case .at(let moment): .object(pairs: [("at_ms", .integer(moment.epochMilliseconds))])
        }
    }

    fileprivate init?(json: JSONValue) {
        if json.integerValue == 0 {
            self = .immediately
        } else if let seconds = json["after_seconds"]?.integerValue {
            guard StoredSeconds.range.contains(seconds) else { return nil }
            self = .after(seconds: Int(seconds))
        } else if let moment = json["at_ms"]?.integerValue {
            self = .at(Timestamp(epochMilliseconds: moment))
        } else {
            return nil
        }
    }
}

extension StopLimits {
    fileprivate var json: JSONValue {
        let limits = Self.outcomes.compactMap { outcome in
            shares[outcome].map { (outcome.name, JSONValue.integer(Int64($0.millionths))) }
        }
        return .object(pairs: [("millionths", .object(pairs: limits)), ("after", .integer(Int64(after)))])
    }

    fileprivate init?(json: JSONValue) {
        self.init()
        guard let after = json["after"]?.integerValue, after >= 1, case .object(let members)? = json["millionths"]
        else { return nil }
        self.after = Int(after)
        for member in members {
            guard let outcome = Self.outcomes.first(where: { $0.name == member.name }),
                let millionths = member.value.integerValue,
                (1...1_000_000).contains(millionths)
            else { return nil }
            shares[outcome] = StopShare(millionths: Int(millionths))
        }
    }
}
