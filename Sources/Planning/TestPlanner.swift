public import Base
import Campaigns
import Content
import PushServices
import Runs
import Workspace

/// Plans a run of a campaign for the app's test devices: each gets every text once. Shares,
/// holdout, schedule and suppression do not apply.
struct TestPlanner {
    let context: CampaignContext
    let options: PlanOptions
    package let now: Timestamp
    /// What of it is wanted.
    var choice = TestChoice()

    /// A text for a device.
    private struct Push {
        var device: TestDevice
        var message: Int
        var fields: [String]
    }

    /// Makes the run.
    /// - Parameter id: an id that was chosen before; nil makes one.
    /// - Throws: `Diagnostic`: the app has no test devices, or none of them can be sent to; what
    ///   planning throws.
    func plan(_ settings: RunSettings, in catalog: RunsFolder, id: String?) throws -> RunFile {
        guard !context.app.testDevices.isEmpty else {
            throw Diagnostic(
                "the app '\(context.app.name.value)' has no test devices", at: context.app.name.position,
                remedy: "Add them to it, for example: \(context.app.main.service.testDevicesExample).")
        }
        try checkWhoseDevices()
        let known = Set(context.app.testDevices.map(\.name))
        if let missing = choice.devices?.first(where: { !known.contains($0) }) {
            throw Diagnostic(
                "the app '\(context.app.name.value)' has no test device '\(missing)', which was chosen for this test",
                at: context.app.name.position,
                remedy: "Choose the devices of the test again.")
        }
        let wanted = try located(context.app.testDevices.filter(choice.holds), catalog)
        let devices = try devices(among: wanted)
        options.observer(.warnings(untestedServices(wanted)))
        let examples = try examples(for: wanted, catalog)
        let pushes = devices.flatMap { device in
            messages(for: device).map {
                Push(device: device, message: $0, fields: fields(device, message: $0, examples))
            }
        }
        guard !pushes.isEmpty || choice == TestChoice() else {
            throw Diagnostic(
                "none of the chosen texts goes to one of the chosen test devices", at: context.app.name.position,
                remedy: "Choose other texts or devices.")
        }
        let (sendable, skipped) = judged(pushes)
        guard !sendable.isEmpty else {
            throw Diagnostic(
                "no test device can be sent to", at: context.app.name.position,
                remedy:
                    "Give them cells for the columns that the templates use, for example: cells: {first_name: Anna}.")
        }
        return try write(sendable, skipped, settings, catalog, id)
    }

    /// A test needs no approval. So where approval is demanded, only devices in the file that
    /// demands it count as test devices.
    private func checkWhoseDevices() throws {
        let file = context.campaign.file
        let demand = ApprovalDemand(app: context.app.name.value, campaignFile: file, realFile: FilePaths.absolute(file))
        switch demand {
        case .none: return
        case .made(let other) where FilePaths.areOneFile(other, context.project.file): return
        case .made, .unknown: break
        }
        throw Diagnostic(
            "the volley.yaml of the campaign requires approval, or cannot be read, but the test devices are those of \(context.project.file)",
            at: context.app.name.position,
            remedy: "Leave out --config: a test goes to the devices that the campaign's own volley.yaml names.",
            [.ask(.nameProject)])
    }

    /// Test devices with the devices of people in place of their aliases, as the exports of the app
    /// have them now: never those that the campaign names, so that only volley.yaml decides which
    /// devices get a test. Each device is in it once.
    /// - Throws: `Diagnostic`: an alias has more devices than a person, or none of the devices is
    ///   found; what reading the exports throws.
    private func located(_ named: [TestDevice], _ catalog: RunsFolder) throws -> [TestDevice] {
        let exports = AliasDevices(app: context.app, project: context.project, catalog: catalog)
        var known = Set(named.map(\.token)), missing: [Diagnostic] = []
        let all = try named.flatMap { device -> [TestDevice] in
            guard let alias = device.alias else { return [device] }
            guard !context.app.devices.isEmpty || context.app.deviceQuery != nil else {
                throw Diagnostic(
                    "the test device '\(device.name)' is named by an alias, and the app '\(context.app.name.value)' has no exports of its own",
                    at: device.position,
                    remedy: "Write `devices: exports/devices.csv` in the app, or the token of the device.")
            }
            options.observer(.readingSomewhere)
            defer { options.observer(.readingEnds) }
            let found = try exports.find(alias, atMost: TestDevice.mostOfAlias + 1, options, at: now)
            guard found.count <= TestDevice.mostOfAlias else {
                throw Diagnostic(
                    "the alias of the test device '\(device.name)' has more than \(TestDevice.mostOfAlias) devices, so it is not that of a person",
                    at: device.position, remedy: "Name another alias, or the token of a device.")
            }
            if found.isEmpty {
                missing.append(
                    Diagnostic(
                        "no device of the exports has the alias of the test device '\(device.name)'",
                        at: device.position, remedy: "Name an alias that the exports of the app have.",
                        severity: .warning))
            }
            return found.compactMap { service, target in
                guard known.insert(target).inserted else { return nil }
                var own = device
                (own.alias, own.service, own.token) = (nil, service, target)
                return own
            }
        }
        if all.isEmpty, var first = missing.first {
            first.severity = .error
            throw first
        }
        options.observer(.warnings(missing))
        return all
    }

    /// Those of some test devices that can get it: for a Live Activity, those with one. Its token
    /// is a cell of theirs, and is the target where it is that of other devices.
    /// - Throws: `Diagnostic`: none has one, or a token is none.
    private func devices(among wanted: [TestDevice]) throws -> [TestDevice] {
        guard let tokens = context.campaign.content.activity?.tokens else { return wanted }
        let names = [tokens.rawValue, context.app.columns.name(of: tokens)]
        var lacking: [TestDevice] = [], entries: Set<SourcePosition> = []
        let devices = try wanted.compactMap { device -> TestDevice? in
            let service = context.app.services[device.service].service
            guard let form = service.rules.activities, form.needsToken else { return device }
            guard let cell = names.lazy.compactMap({ device.cells[$0] }).first, !cell.isEmpty else {
                lacking.append(device)
                return nil
            }
            // The devices of an alias have the cell in common: its activity gets each text once.
            guard entries.insert(device.position).inserted else { return nil }
            var device = device
            device.cells[tokens.rawValue] = cell
            // Apple's, whichever service carries it.
            let standard = PushServices.standard.target
            guard let target = standard.target(cell) else {
                throw Diagnostic(
                    "the \(names[0]) of '\(device.name)' is not \(ActivityTokens.aNoun)", at: device.position,
                    remedy: "\(standard.rule).")
            }
            if form == .target { device.token = target } else { device.cells[tokens.rawValue] = target.text }
            return device
        }
        let remedy = "Copy the token from the app, and write it there: cells: {\(names[0]): …}."
        if devices.isEmpty, let first = lacking.first {
            throw Diagnostic(
                "no test device has \(TextFormat.withArticle(names[0])), a token of a Live Activity",
                at: first.position, remedy: remedy)
        }
        options.observer(
            .warnings(
                lacking.map {
                    Diagnostic(
                        "'\($0.name)' has no \(names[0]), so it gets no test of a Live Activity", at: $0.position,
                        remedy: remedy,
                        severity: .warning)
                }))
        return devices
    }

    /// Services of several that reach no test device: the person that tests does not see what their
    /// devices get.
    private func untestedServices(_ wanted: [TestDevice]) -> [Diagnostic] {
        let tested = Set((context.app.testDevices.filter { $0.alias == nil } + wanted).map(\.service))
        return context.app.services.indices.filter { !tested.contains($0) }.map { number in
            let service = context.app.services[number].service
            return Diagnostic(
                "no test device is reached through \(service.displayName), so what it delivers is not tested",
                at: context.app.services[number].position, remedy: "Add one to the app: \(service.testDevicesExample).",
                severity: .warning)
        }
    }

    // MARK: - What each device gets

    /// Every text or, for a device with a language, the texts that such a device gets, one for each
    /// variant.
    private func messages(for device: TestDevice) -> [Int] {
        let all = context.messages.messages
        guard let language = device.language else {
            return all.indices.filter { all[$0].service == device.service && choice.holds(all[$0]) }
        }
        var chooser = MessageChooser(context.messages)
        var chosen: [Int] = []
        for variant in all.map(\.variant) {
            let number = Array(variant.utf8).withUnsafeBufferPointer { variant in
                Array(language.utf8).withUnsafeBufferPointer {
                    chooser.message(variant: variant, language: $0, service: device.service)
                }
            }
            if let number, choice.holds(all[number]), !chosen.contains(number) { chosen.append(number) }
        }
        return chosen
    }

    /// For each text, a recipient that gets it, or else the first one; nil for all when the test
    /// devices' own cells are enough.
    private func examples(for wanted: [TestDevice], _ catalog: RunsFolder) throws -> [Recipient?] {
        let all = context.messages.messages
        let columns = context.messages.columns.map(\.value)
        guard wanted.contains(where: { device in columns.contains { device.cells[$0] == nil } }) else {
            options.observer(.warnings(context.warnings))
            return all.map { _ in nil }
        }
        let recipients = try Planner(context: context, options, now: now).examples(in: catalog)
        var chooser = MessageChooser(context.messages)
        let numbers = recipients.map { chooser.message(of: $0) }
        return all.indices.map { message in
            // Samples of other services can be used, too: their cells are the same.
            let message = message % context.messages.messagesOfService
            let same = numbers.firstIndex(of: message)
            let sameLanguage = numbers.firstIndex { $0.map { all[$0].language == all[message].language } ?? false }
            return (same ?? sameLanguage).map { recipients[$0] } ?? recipients.first
        }
    }

    private func fields(_ device: TestDevice, message: Int, _ examples: [Recipient?]) -> [String] {
        context.messages.columns.enumerated().map { place, column in
            if columnsOfTargets.contains(column.value) { return device.cells[column.value] ?? "" }
            return device.cells[column.value] ?? examples[message].map { $0.fields[place] } ?? ""
        }
    }

    /// Columns with something that a push can be sent to: a test never takes that from a recipient,
    /// whose phone would get it.
    private var columnsOfTargets: Set<String> {
        let columns = context.app.columns, content = context.campaign.content
        let tokens = ActivityTokens.allCases.flatMap { [$0.rawValue, columns.name(of: $0)] }
        let services = context.app.services.map(\.service)
        let targets =
            columns.candidates(for: .token) + services.flatMap { columns.candidates(forTargets: $0.target.column) }
        let keys = services.reduce(into: Set<String>()) { $0.formUnion($1.rules.payloadTargets) }
        let contents = ([content] + context.campaign.variants.compactMap(\.content)).flatMap {
            [$0] + $0.languages.map(\.content) + $0.services.map(\.content)
        }
        let texts = contents.compactMap(\.payload).flatMap { Self.texts(of: keys, in: $0) }
        let named = context.messages.columns.map(\.value).filter { column in texts.contains { $0.contains(column) } }
        return Set([ExportColumns.Standard.token.rawValue] + tokens + targets + named)
    }

    /// The texts of these keys, however deep.
    private static func texts(of keys: Set<String>, in node: ContentNode) -> [String] {
        switch node {
        case .object(let members, _):
            members.flatMap { member in
                if keys.contains(member.name.value), case .text(let text) = member.value { return [text.value] }
                return texts(of: keys, in: member.value)
            }
        case .array(let nodes, _): nodes.flatMap { texts(of: keys, in: $0) }
        default: []
        }
    }

    /// The language that a push is rendered in, and that the run uses to find its text again.
    private func language(_ push: Push) -> String {
        push.device.language ?? context.messages.messages[push.message].language
    }

    private func judged(_ pushes: [Push]) -> (sendable: [Push], skipped: [SkipReason: Int]) {
        var skipped: [SkipReason: Int] = [:]
        var payload: [UInt8] = []
        let sendable = pushes.filter { push in
            let template = context.messages.messages[push.message].template
            guard let failure = template.render(push.fields, language: language(push), into: &payload) else {
                return true
            }
            skipped[failure.skipReason, default: 0] += 1
            options.observer(
                .testSkipped(device: push.device.name, token: push.device.token, text: text(push.message), failure))
            return false
        }
        return (sendable, skipped)
    }

    // MARK: - The run

    private func write(
        _ pushes: [Push], _ skipped: [SkipReason: Int], _ settings: RunSettings, _ catalog: RunsFolder, _ id: String?
    ) throws -> RunFile {
        let seed = RunSeed.random()
        let id = id ?? RunID.make(campaign: context.campaign.name.value, now: now, seed: seed)
        let services = context.app.services.count
        let writer = try catalog.create(
            id, variants: nil, sorter: services > 1 ? SegmentSorter(services: services) : nil)
        for (slot, push) in pushes.enumerated() {
            try writer.put(
                Recipient(
                    token: push.device.token, alias: push.device.name, language: language(push),
                    variant: context.messages.messages[push.message].variant, fields: push.fields), at: slot,
                service: UInt8(push.device.service))
        }
        if services > 1 { try writer.drop(BitSet(), of: pushes.count) }
        var settings = settings.fingerprinted
        settings.needsApproval = false
        settings.runsFolder = FilePaths.absolute(catalog.place)
        // With a collapse id, one text would replace the other on the device before anyone has read
        // it.
        if Set(pushes.map(\.device.token)).count < pushes.count { settings.collapseID = nil }
        return try writer.finish(
            RunPlan(
                id: id, campaign: context.campaign.name.value, app: context.app.name.value,
                campaignFile: FilePaths.named(context.campaign.file), campaignSource: context.campaign.source,
                projectFile: FilePaths.anchored(context.project.file), seed: seed,
                fields: context.messages.columns.map(\.value),
                plannedAt: now, planHash: "", rows: pushes.count + skipped.values.reduce(0, +), audience: pushes.count,
                skipped: skipped,
                settings: .success(settings), preview: preview(pushes), previewText: summary(pushes), isTest: true,
                serviceSegments: writer.segments
            ))
    }

    /// What a report shows about a test: the texts that went to the devices.
    private func preview(_ pushes: [Push]) -> JSONValue {
        let sent = context.messages.messages.enumerated().compactMap { number, message in
            let count = pushes.count { $0.message == number }
            return count == 0 ? nil : PreviewGroups.Group(message, in: context.messages, recipients: count).json
        }
        let description = context.campaign.description.map { [("description", JSONValue.string($0))] } ?? []
        return .object(pairs: [("messages", .array(sent)), ("pushes", .array(pushes.map(json)))] + description)
            .withoutTokens
    }

    /// What a page shows of a push.
    private func json(_ push: Push) -> JSONValue {
        .object(pairs: [
            ("device", .string(push.device.name)), ("token", .string(push.device.token.redacted)),
            ("text", .string(text(push.message))),
            ("service", .string(context.messages.services[context.messages.messages[push.message].service].name)),
            ("payload", payload(push)),
        ])
    }

    /// As it is sent, but for the device's token.
    private func payload(_ push: Push) -> JSONValue {
        var payload: [UInt8] = []
        _ = context.messages.messages[push.message].template.render(
            push.fields, language: language(push), into: &payload)
        return (try? JSONValue(parsing: push.device.token.redacted(in: String(decoding: payload, as: UTF8.self))))
            ?? .null
    }

    private func summary(_ pushes: [Push]) -> String {
        let devices = Set(pushes.map(\.device.token)).count
        var lines = [
            "Test of \(context.campaign.name.value): \(pushes.count) \(TextFormat.plural(pushes.count, one: "push", many: "pushes")) to "
                + "\(devices) \(TextFormat.plural(devices, one: "device")) of \(context.app.name.value) (\(context.app.destination))"
        ]
        for push in pushes {
            lines += ["", "\(push.device.name) (\(push.device.token)), \(text(push.message))"]
            lines += payload(push).indentedText.split(separator: "\n").map { "  \($0)" }
        }
        return SecretText.withoutTokens(lines.joined(separator: "\n"))
    }

    /// `short, de`, or `the text` for one without names.
    private func text(_ message: Int) -> String {
        let message = context.messages.messages[message]
        let service = context.messages.services.count > 1 ? context.messages.services[message.service].displayName : ""
        let names = [service, message.variant, message.language].filter { !$0.isEmpty }
        return names.isEmpty ? "the text" : names.joined(separator: ", ")
    }
}

/// The part of a test that is wanted: some of the app's test devices, and some of the texts.
public struct TestChoice: Hashable, Sendable {
    /// Names of test devices; nil for all.
    public var devices: [String]?
    /// Names of variants; nil for all.
    public var variants: [String]?
    /// Languages as the campaign writes them, blank for the text above them; nil for all.
    public var languages: [String]?

    /// Everything.
    public init() {}

    /// What `text` wrote.
    /// - Throws: `Diagnostic` for anything else.
    public init(_ text: String) throws(Diagnostic) {
        guard !text.isEmpty else { return }
        let unreadable = Diagnostic(
            "it cannot be read which texts and devices were chosen for the test", remedy: "Choose them again.")
        guard let value = try? JSONValue(parsing: text), case .object = value else { throw unreadable }
        // What cannot be read must not stand for all.
        func names(_ key: String) throws(Diagnostic) -> [String]? {
            guard let list = value[key] else { return nil }
            guard case .array(let items) = list else { throw unreadable }
            let names = items.compactMap(\.stringValue)
            guard names.count == items.count else { throw unreadable }
            return names
        }
        (devices, variants, languages) = (try names("devices"), try names("variants"), try names("languages"))
    }

    /// For an order; blank for everything.
    public var text: String {
        let parts = [("devices", devices), ("variants", variants), ("languages", languages)].compactMap { key, names in
            names.map { (key, JSONValue.array($0.map { .string($0) })) }
        }
        return parts.isEmpty ? "" : JSONValue.object(pairs: parts).text
    }

    func holds(_ device: TestDevice) -> Bool { devices?.contains(device.name) ?? true }

    func holds(_ message: MessageCatalog.Message) -> Bool {
        (variants?.contains(message.variant) ?? true) && (languages?.contains(message.language) ?? true)
    }
}
