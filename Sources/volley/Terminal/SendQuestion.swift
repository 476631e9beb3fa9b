import Base
import Campaigns
import PushServices
import Runs
import Planning
import Workspace

/// The question before a run is sent. It shows how many devices get the push, where it goes, when
/// the campaign was last sent, and until when a push is worth delivering. Everything else is in the
/// preview above it.
struct SendQuestion {
    let plan: RunPlan
    let settings: RunSettings
    /// The last time the campaign was sent; nil if it was never sent from this folder.
    let last: PreviousSending?
    /// A text about a run if no file shows which devices it reached; nil otherwise.
    let unaccounted: String?
    /// Texts about other pushes that devices of the app got in the last hours.
    let others: [String]
    let now: Timestamp

    /// Prepares the question for a run that is about to begin.
    /// - Throws: `Diagnostic`: the folder of runs cannot be listed.
    init(_ run: RunFile, _ settings: RunSettings, now: Timestamp) throws {
        let earlier = try EarlierRuns(
            of: run.plan.campaign, app: run.plan.app, in: settings, catalog: run.catalog, now: now,
            besides: run.plan.id)
        defer { earlier.close() }
        let unaccounted = earlier.unaccounted.map {
            "\($0.id), \(PreviousSending.ago($0.begunAt, now: now)): its file is gone or an older copy, so the devices it reached are not known"
        }
        let others =
            try Self.reached(run.plan, unless: earlier.lastSending, now: now) + Self.sentSince(run, settings, now: now)
        self.init(
            plan: run.plan, settings: settings, last: earlier.lastSending, unaccounted: unaccounted, others: others,
            now: now)
    }

    init(
        plan: RunPlan, settings: RunSettings, last: PreviousSending?, unaccounted: String? = nil, others: [String] = [],
        now: Timestamp
    ) {
        self.plan = plan
        self.settings = settings
        self.last = last
        self.unaccounted = unaccounted
        self.others = others
        self.now = now
    }

    /// As it was counted when the run was planned.
    private static func reached(_ plan: RunPlan, unless last: PreviousSending?, now: Timestamp) -> [String] {
        guard case .array(let sendings)? = plan.preview["reached_lately"] else { return [] }
        return sendings.compactMap { sending in
            guard let run = sending["run"]?.stringValue, run != last?.run,
                let campaign = sending["campaign"]?.stringValue,
                let devices = sending["devices"]?.integerValue,
                let at = sending["last_at"]?.stringValue.flatMap({ Timestamp($0) })
            else { return nil }
            return
                "\(TextFormat.count(Int(devices))) of these devices got or may have got '\(campaign)' \(PreviousSending.ago(at, now: now))"
        }
    }

    /// What went out after it was planned.
    private static func sentSince(_ run: RunFile, _ settings: RunSettings, now: Timestamp) throws -> [String] {
        guard run.plan.retryOf == nil else { return [] }
        let (plan, name) = (run.plan, run.plan.campaign)
        let sendings = try RecentSendings(
            of: plan.app, in: settings, run.catalog, since: plan.plannedAt, now: now, besides: plan.id)
        var unread = sendings.unread
        // Some runs could be opened but not read completely when the devices were counted.
        if case .array(let runs)? = plan.preview["reached_lately_unread"] {
            unread.formUnion(runs.compactMap(\.stringValue))
        }
        let unknown = RecentSendings.words(unread: unread, besidesThoseOf: name)
        return sendings.all.filter { $0.campaign != name }.map {
            "'\($0.campaign)' \($0.words(sincePlan: plan.plannedAt, now: now))"
        } + [unknown].compactMap(\.self)
    }

    /// Five short lines, and one for each other push; the last one waits for a yes.
    var text: String {
        let service = settings.service
        let goes =
            service.choosesDevices
            ? "goes out in \(service.recipients(plan.audience)) to \(service.displayName), which chooses the devices of \(plan.app)"
            : "goes to \(service.recipients(plan.audience)) of \(plan.app)"
        let again =
            plan.retryOf.map { ", which \($0) did not reach\(plan.leftOutOfRetry.map { "; \($0)" } ?? "")" } ?? ""
        return """
            '\(plan.campaign)' \(goes)\(again).
              Environment  \(environment)
              Last run     \(unaccounted ?? last?.words(here: settings.firstService.environment.name) ?? "none: it was never sent from here")\(others.map { "\n  Lately       \($0)" }.joined())
              Expires      \(expiry)
            \(ask)
            """
    }

    private var ask: String {
        if plan.retryOf != nil {
            return settings.service.choosesDevices ? "Make these calls again?" : "Send it again to these?"
        }
        return last?.isRecent(in: settings.firstService.environment) ?? false
            ? "It was sent only hours ago. Send it again?" : "Send it?"
    }

    private var environment: String {
        guard settings.services.count > 1 else { return Self.words(settings.firstService.environment) }
        return settings.services.map { "\($0.service.displayName) \(Self.words($0.environment))" }.joined(
            separator: "; ")
    }

    private static func words(_ environment: FrozenEnvironment) -> String {
        switch environment {
        case .named(let named): named.name + (named.purpose.map { ", \($0)" } ?? "")
        case .simulator: "simulator: no device gets it"
        case .server: environment.name
        }
    }

    /// Whether a campaign may say when its pushes expire.
    private var canExpire: Bool { settings.services.contains { $0.service.rules.deliveryKeys.contains(.expires) } }

    /// How long services keep a push that does not expire.
    private var longestStorage: String {
        let services = settings.services.map(\.service), lengths = Set(services.map(\.rules.storageSeconds))
        let names = services.map(\.displayName)
        if lengths.count == 1, let seconds = lengths.first ?? nil {
            let keeps =
                names.count == 1
                ? "\(names[0]) keeps" : "\(names.dropLast().joined(separator: ", ")) and \(names[names.count - 1]) keep"
            return
                "after \(TextFormat.span(seconds: seconds))\(canExpire ? ", as the campaign does not say" : ""): until then \(keeps) it for phones that are off"
        }
        if names.count == 1 {
            return "when \(names[0]) drops it: how long it keeps it for phones that are off, it does not say"
        }
        let parts = services.map { service in
            service.displayName
                + (service.rules.storageSeconds.map { " keeps it \(TextFormat.span(seconds: $0))" }
                    ?? " does not say how long it keeps it")
        }.joined(separator: ", ")
        return
            "when the services drop it\(canExpire ? ", as the campaign does not say" : ""): \(parts) for phones that are off"
    }

    private var expiry: String {
        switch settings.expiry {
        case nil: longestStorage
        case .immediately: "at once: a phone that is off does not get it"
        case .after(let seconds):
            "\(TextFormat.span(seconds: Int64(seconds))) after \(plan.waves.count > 1 ? "each of its times" : "it begins")"
        case .at(let moment) where moment <= now: "\(moment.minuteText), which has passed: no device gets it"
        case .at(let moment):
            "\(moment.minuteText), in \(TextFormat.span(seconds: moment.epochSeconds - now.epochSeconds))"
        }
    }
}
