public import Base
public import Campaigns
import Glibc
import PushServices
import Reports
public import Runs
import Sending

/// A folder with what support needs, and nothing that is secret or about a person: no device
/// tokens, aliases, registration ids or keys, and texts only on request.
///
/// It is made of harmless facts, rather than of files from which secrets are removed: messages of
/// errors may quote cells of exports, so only the kind of an error is in it.
///
/// ```swift
/// let request = SupportBundle.Request(target: ".", asksServices: false, includesTexts: false)
/// let bundle = SupportBundle(
///     request, of: project, projectFile: project.file, catalog: runs, try Cancellation())
/// let (folder, files) = try bundle.make(at: .now())
/// ```
public struct SupportBundle: Sendable {
    /// What to gather, and where.
    public struct Request: Sendable {
        /// The folder in which the bundle gets its own folder.
        public var target: String
        /// Whether services are contacted, as by `volley doctor`.
        public var asksServices: Bool
        /// Whether the campaigns' files are part of it.
        public var includesTexts: Bool
        /// Folders of campaigns that are not below that of volley.yaml.
        public var campaigns: [String]

        /// A request.
        public init(target: String, asksServices: Bool, includesTexts: Bool, campaigns: [String] = []) {
            self.target = target
            self.campaigns = campaigns
            self.asksServices = asksServices
            self.includesTexts = includesTexts
        }
    }

    private let request: Request
    private let project: Project?
    private let projectFile: String?
    private let catalog: RunsFolder
    private let cancellation: Cancellation

    /// - Parameters:
    ///   - project: nil if it does not exist or cannot be read.
    ///   - projectFile: volley.yaml; nil without one.
    public init(
        _ request: Request, of project: Project?, projectFile: String?, catalog: RunsFolder,
        _ cancellation: Cancellation
    ) {
        self.request = request
        self.project = project
        self.projectFile = projectFile
        self.catalog = catalog
        self.cancellation = cancellation
    }

    /// Gathers it.
    /// - Returns: its folder, and the names of the files in it.
    /// - Throws: `Diagnostic`: it cannot be written. `CancellationError`: it was asked to end.
    public func make(at now: Timestamp) throws -> (path: String, files: [String]) {
        let path = FilePaths.join(FilePaths.named(request.target), name: "volley-support-\(now.compact)")
        guard !FilePaths.exists(path) else {
            throw Diagnostic("there is something under this name already", file: path, remedy: "Try again in a second.")
        }
        let staged = try StagedFolder(path, kind: "support")
        var files: [(name: String, document: JSONValue)] = [("version.json", VersionReport().json)]
        if let projectFile { files.append(("volley.yaml.json", Self.outline(of: projectFile))) }
        files.append(("doctor.json", doctor(at: now)))
        if cancellation.isRequested { throw CancellationError() }
        files.append(("runs.json", runs()))
        files.append(("schedule.json", schedule()))
        for (name, document) in files {
            try FilePaths.create(
                FilePaths.join(staged.path, name: name), bytes: Array((document.indentedText + "\n").utf8), mode: 0o600)
        }
        let campaigns = try copyCampaigns(to: staged.path)
        try staged.finish()
        return (path, files.map(\.name) + campaigns)
    }

    // MARK: - Parts

    /// For a file with mistakes, only their places.
    private static func outline(of file: String) -> JSONValue {
        do throws(Diagnostics) { return try ProjectOutline(file: file).json } catch {
            let lines = error.all.map { $0.position.map { JSONValue.integer(Int64($0.line)) } ?? .null }
            return .object(pairs: [("cannot_be_read_in_lines", .array(lines))])
        }
    }

    /// The steps with their states; without their texts, which may name addresses and files.
    private func doctor(at now: Timestamp) -> JSONValue {
        guard let project else { return .null }
        let context = SendingContext(cancellation: cancellation)
        return .array(
            project.apps.flatMap { app in
                app.services.indices.map { number in
                    let check = ServiceCheck(app: app, project: project, service: number, now: now, context: context)
                    let steps = request.asksServices ? check.steps() : check.stepsWithoutAsking()
                    return .object(pairs: [
                        ("app", .string(app.name.value)), ("service", .string(app.services[number].service.name)),
                        ("asked", .bool(request.asksServices)),
                        ("steps", .object(pairs: steps.map { ($0.name, .string($0.state.rawValue)) })),
                    ])
                }
            })
    }

    private func runs() -> JSONValue {
        guard let listing = try? catalog.list() else { return .object(pairs: [("cannot_be_listed", .bool(true))]) }
        let known = HistorySnapshot(of: catalog)
        return .object(pairs: [
            ("runs", .array(listing.runs.map { SupportedRun($0, known).json })),
            ("broken", .integer(Int64(listing.broken.count))),
            ("copies", .integer(Int64(listing.copies.count))),
            ("unfinished_plans", .integer(Int64((try? catalog.unfinishedPlans().count) ?? 0))),
            ("record_can_be_read", .bool(known.failure == nil)),
        ])
    }

    private func schedule() -> JSONValue {
        guard let saved = try? catalog.schedule.read() else { return .object(pairs: [("cannot_be_read", .bool(true))]) }
        let times = saved.scheduledRuns.suffix(1_000).map { time in
            JSONValue.object(pairs: [
                ("campaign", .string(time.key.campaign)), ("occurrence", .string(time.key.occurrence)),
                ("run", time.run.map { .string($0) } ?? .null), ("state", .string(time.state.rawValue)),
                ("problem", time.problem?.json["problem"] ?? .null),
                ("changed_at", .string(time.changedAt.description)),
            ])
        }
        return .object(pairs: [("is_at_work", .bool(catalog.schedule.isAtWork)), ("times", .array(times))])
    }

    /// - Returns: their names in the bundle.
    private func copyCampaigns(to staged: String) throws -> [String] {
        guard request.includesTexts, let project else { return [] }
        let found = try ProjectInventory(
            project, and: request.campaigns, besides: FilePaths.named(catalog.place), includesKeys: false)
        let file = FilePaths.named(project.file), root = FilePaths.join(found.root, name: "")
        return try found.campaigns.sorted().filter { $0 != file }.map { campaign in
            let name =
                "campaigns"
                + (campaign.hasPrefix(root) ? "/\(campaign.dropFirst(root.count))" : "/elsewhere\(campaign)")
            let copy = FilePaths.join(staged, name: name)
            try FilePaths.makeFolder(FilePaths.folder(of: copy), mode: 0o700)
            _ = try ChecksummedCopy.make(of: campaign, at: copy) { _ in }
            return name
        }
    }
}

/// A run in a bundle.
private struct SupportedRun {
    let json: JSONValue

    init(_ run: RunFile, _ known: HistorySnapshot) {
        defer { run.close() }
        let plan = run.plan
        let summary = (try? Report(run, isSummary: true))?.json
        var pairs: [(String, JSONValue)] = [
            ("run", .string(plan.id)), ("campaign", .string(plan.campaign)), ("app", .string(plan.app)),
            ("services", .array(plan.services.map { .string($0.name) })), ("is_test", .bool(plan.isTest)),
            ("is_retry", .bool(plan.retryOf != nil)), ("is_pruned", .bool(run.prunedAt != nil)),
            ("audience", .integer(Int64(plan.audience))),
            ("planned_at", .string(plan.plannedAt.description)),
        ]
        if let status = try? run.status() {
            pairs.append(("state", .string(status.state.rawValue)))
            pairs.append(("started_at", status.startedAt.map { .string($0.description) } ?? .null))
            pairs.append(("finished_at", status.finishedAt.map { .string($0.description) } ?? .null))
            pairs.append(("stop", status.cause.map { Self.kind(of: $0.json) } ?? .null))
        } else {
            pairs.append(("state", .string("unreadable")))
        }
        pairs.append(("outcomes", summary?["outcomes"] ?? .null))
        pairs.append(
            ("lacks", LedgerGap(of: run, among: known).map { .string($0.isKnown ? "certainly" : "perhaps") } ?? .null))
        json = .object(pairs: pairs)
    }

    /// A cause in the words of a service or of Volley; never text that a person or an error wrote.
    private static func kind(of cause: JSONValue) -> JSONValue {
        .object(pairs: ["cause", "service", "status"].compactMap { name in cause[name].map { (name, $0) } })
    }
}
