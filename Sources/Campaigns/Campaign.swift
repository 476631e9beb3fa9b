public import Base
public import PushServices

/// A campaign as marketing wrote it: checked, with its places, nothing expanded. Paths are as
/// written, relative to `file`.
///
/// ```swift
/// let (campaign, warnings) = try Campaign.read(file: "campaigns/spring-sale.yaml", now: .now())
/// for warning in warnings { print(warning) }
/// ```
public struct Campaign: Sendable {
    /// The campaign file, as it was named to Volley.
    public var file: String
    /// The file's text, for the run file to keep.
    public var source: String
    /// `[a-z0-9-]`, at most 64 characters.
    public var name: SourceText
    /// The key below `apps` in volley.yaml.
    public var app: SourceText
    /// For people.
    public var description: String?
    /// The devices that get it.
    public var audience: CampaignAudience
    /// What they get.
    public var content: MessageContent
    /// Parts of the audience that get different content, or nothing, in the order of the file;
    /// empty when all get the same.
    public var variants: [MessageVariant]
    /// How devices are assigned to them. (`variants: {by: alias}`)
    public var variantDealing: VariantDealing
    /// How it gets there.
    public var delivery: CampaignDelivery
    /// When it is sent; nil when it is sent by hand, with `volley send`.
    public var schedule: Schedule?
    /// Where its zone is, for errors about it; nil without a schedule.
    public var schedulePosition: SourcePosition?
    /// Warnings that the campaign silences, each with the reason.
    public var allowed: [AllowedWarning]
}

/// The devices that get a campaign, as written.
public struct CampaignAudience: Sendable {
    /// Where `audience` is.
    public var position: SourcePosition
    /// The service that chooses the devices, to which only names are sent; nil where Volley chooses
    /// them in the exports. (`by: …`)
    public var by: SourceText?
    /// Paths or globs; empty when the app's default export is meant.
    public var devices: [SourceText] = []
    /// The query that returns the devices, instead of files.
    public var deviceQuery: DeviceQuery?
    /// Devices with at least one of these tags. (`tags: [a]`, `tags: {any: [a]}`)
    public var anyTags = NameList()
    /// Devices with each of these. (`tags: {all: […]}`)
    public var allTags = NameList()
    /// Devices with none of these. (`tags: {none: […]}`)
    public var noneTags = NameList()
    /// Every device of these aliases.
    public var aliases = NameList()
    /// Exactly these devices.
    public var registrationIDs = NameList()
    /// The broadcast channel whose phones get it; used alone. (`channel: ID`)
    public var channel: SourceText?
    /// Everyone; cannot be combined with other selectors.
    public var everyone = false
    /// All of these must hold.
    public var conditions: [ColumnCondition] = []
    /// None of these may hold.
    public var excludedTags = NameList()
    /// None of these may hold.
    public var excludedAliases = NameList()
    /// None of these may hold.
    public var excludedRegistrationIDs = NameList()
    /// Files that list tokens or registration ids, to which nothing is sent.
    public var excludedDevices: [SourceText] = []
    /// Whether it has the key `exclude`, even an empty one.
    public var excludes = false
    /// The most devices that an alias expands to, at least 1.
    public var aliasLimit = 10
    /// The share of unreadable rows (0 to 1) beyond which a plan stops.
    public var maximumBadRowShare = 0.01
    /// How much smaller it may be than in the campaign's last run; nil when the campaign does not
    /// say.
    public var shrinkLimit: ShrinkLimit?
    /// Where `shrinks_at_most` is, for errors about it.
    public var shrinkLimitPosition: SourcePosition?

    /// An audience with nothing in it yet.
    public init(position: SourcePosition) { self.position = position }
}

/// How much smaller an audience may be than in the campaign's last run.
public enum ShrinkLimit: Hashable, Sendable {
    /// Smaller by this share of it at most.
    case atMost(StopShare)
    /// No limit.
    case off

    /// What applies to scheduled campaigns that set no limit.
    public static let ofSchedules = ShrinkLimit.atMost(StopShare(millionths: 500_000))
}

/// Names written in the campaign, or listed in a separate file, one per line.
public struct NameList: Sendable {
    /// The names written in place.
    public var names: [SourceText] = []
    /// `{file: vip.txt}`
    public var file: SourceText?

    /// An empty list.
    public init() {}

    /// Whether nothing is named, neither in place nor by a file.
    public var isEmpty: Bool { names.isEmpty && file == nil }
}

/// How a campaign gets there, as written.
public struct CampaignDelivery: Sendable {
    /// Never faster than this; the app's own pace may be slower still.
    public var pace: Pace?
    /// How often a device may get a push of the app; the app's own cap counts too.
    public var frequency: FrequencyCap?
    /// When a push is no longer wanted; nil leaves it to the service (at most 30 days).
    public var expiry: Expiry?
    /// nil: high, or normal for a silent push.
    public var priority: PushPriority?
    /// A newer push replaces an older one with the same id on a device.
    public var collapseID: SourceText?
    /// What to do with a push after its answer was lost; nil for what its service suggests.
    public var unknownPolicy: UnknownPolicy?
    /// Shares of bad answers beyond which the run stops; nil for only those that stop every run.
    public var stopLimits: StopLimits?
    /// Which pushes say in the app's data and in links which they are; nil for none.
    public var tracking: TrackedPushes?
    /// Where `track` is, for warnings about it.
    public var trackingPosition: SourcePosition?
    /// Where `pace` is, for warnings about it.
    public var pacePosition: SourcePosition?
    /// Where `priority` is, for errors about it.
    public var priorityPosition: SourcePosition?

    /// Everything by default.
    public init() {}

    /// What to do with a push through a service after its answer was lost. By default it is sent
    /// again only if the service may recognise it by its id: otherwise the device would show it
    /// twice.
    public func unknownPolicy(of service: any PushService) -> UnknownPolicy {
        unknownPolicy ?? (service.recognizesRepeats ? .resend : .skip)
    }
}

/// Pushes that say which they are. (`track: true`, `track: silent`)
public enum TrackedPushes: Hashable, Sendable {
    /// Those that people see or hear.
    case visible
    /// Silent ones, too.
    case silentToo
}

extension Campaign {
    /// Reads and checks the text of a campaign that a run file kept.
    /// - Parameters:
    ///   - source: the campaign's text.
    ///   - file: where it came from, for errors; the file itself is not read.
    ///   - services: those that take its pushes, at least one.
    ///   - now: an expiry before this moment is in the past.
    /// - Throws: every mistake at once.
    public static func read(
        source: String, file: String, services: [any PushService] = [PushServices.standard], now: Timestamp
    ) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let text: YAMLSource
        do throws(Diagnostic) {
            text = try YAMLSource(file: file, bytes: Array(source.utf8))
        } catch {
            throw Diagnostics(error)
        }
        return try read(text, services: services, now: now)
    }
}

extension Campaign {
    /// Reads and checks a campaign file. No file but this one is touched.
    /// - Parameter now: an expiry before this moment is in the past.
    /// - Throws: every mistake of the file at once.
    /// - Returns: the campaign, and warnings.
    public static func read(file: String, now: Timestamp) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let source = try openSource(file)
        return try read(source, now: now)
    }

    /// Reads and checks the text of a campaign file.
    static func read(
        _ source: YAMLSource, services: [any PushService] = [PushServices.standard], now: Timestamp
    ) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let draft = draft(source, now: now) { _ in services }
        guard let campaign = draft.campaign else {
            precondition(!draft.findings.isEmpty, "a campaign was refused without saying why")
            throw Diagnostics(draft.findings)
        }
        return (campaign, draft.findings)
    }
}

extension Project {
    /// Reads and checks volley.yaml. No file but this one is touched.
    /// - Throws: every mistake of the file at once.
    public static func read(file: String) throws(Diagnostics) -> (Project, [Diagnostic]) {
        if let mistake = ambiguity(of: file) { throw Diagnostics(mistake) }
        let source = try openSource(file)
        return try read(source)
    }

    /// Reads of volley.yaml what stopping a run needs: where runs are kept, and their store. A run
    /// continues whatever mistake the file has by now, and it must be possible to stop it. If there
    /// is a mistake, the result has no apps, databases or notices.
    /// - Throws: every mistake of the file, if one is about these two, or may be.
    public static func readToStop(file: String) throws(Diagnostics) -> Project {
        let source = try openSource(file)
        do throws(Diagnostics) { return try read(source).0 } catch {
            let root = rootSection(
                of: source, ProjectKeys.root, ProjectKeys.file, example: "runs: runs",
                findings: Findings(isOfProject: true))
            guard let project = root.flatMap({ ProjectReader(root: $0, file: source.file).readPlaces() }) else {
                throw Diagnostics(
                    error.all + [
                        Diagnostic(
                            "with these mistakes the file does not say where runs are kept, or which store machines share",
                            file: file,
                            remedy:
                                "Correct them; or name the folder with --runs FOLDER, which stops a run on this machine.",
                            [.seeProblems])
                    ])
            }
            return project
        }
    }

    /// Reads and checks the text of volley.yaml.
    static func read(_ source: YAMLSource) throws(Diagnostics) -> (Project, [Diagnostic]) {
        let findings = Findings(isOfProject: true)
        let root = rootSection(
            of: source, ProjectKeys.root, ProjectKeys.file, example: "runs: runs", findings: findings)
        let project = root.flatMap { ProjectReader(root: $0, file: source.file).read() }
        findings.preferFalseSpaces(in: source)
        let warnings = try findings.warnings()
        guard let project else { preconditionFailure("volley.yaml was refused without saying why") }
        return (project, warnings)
    }
}

func openSource(_ file: String) throws(Diagnostics) -> YAMLSource {
    do throws(Diagnostic) {
        return try YAMLSource(file: file)
    } catch {
        throw Diagnostics(error)
    }
}

/// Parses a file and opens its top level; nil, and reported, when that is impossible.
func rootSection(of source: YAMLSource, _ group: KeyGroup, _ keys: FileKeys, example: String, findings: Findings)
    -> Section?
{
    let start = SourcePosition(file: source.file, line: 1, column: 1)
    do throws(Diagnostic) {
        var composer = try YAMLComposer(source: source, findings: findings)
        guard let root = try composer.document(), !root.isNull else {
            findings.error(
                "the file is empty", at: start, remedy: "It must hold 'key: value' lines, for example: \(example).")
            return nil
        }
        if case .scalar(let value, _) = root.content, let key = group.valid.first(where: { value.hasPrefix($0 + ":") })
        {
            findings.error(
                "a space is missing after the ':' of '\(key):'", at: root.position, remedy: "Write it as 'name: value'."
            )
            return nil
        }
        guard case .mapping = root.content else {
            if !root.isUnreadable {
                findings.error(
                    "the file must hold 'key: value' lines, not \(findings.noun(of: root))", at: root.position,
                    remedy: "It begins, for example, with: \(example).")
            }
            return nil
        }
        return Section(root, group, of: keys, example: example, findings: findings)
    } catch {
        findings.fatal(error)
        return nil
    }
}
