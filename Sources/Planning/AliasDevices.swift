import Audience
public import Base
import Campaigns
import PushServices
import Runs
public import Workspace

/// Finds the devices of an alias in an app's own exports, each as its newest row has it: the number
/// of its service among the app's, and its target.
/// - Parameters:
///   - project: its volley.yaml.
/// - Throws: `Diagnostics`, `Diagnostic`: what keeps the exports from being found or read.
public func devices(
    ofAlias alias: String, app name: String, project choice: ProjectChoice, _ options: PlanOptions, at now: Timestamp
) throws -> [(service: Int, target: Target)] {
    let file = choice.file ?? ""
    let project = try Project.read(file: file).0
    guard let app = project.app(named: name) else { throw Diagnostic("volley.yaml has no app '\(name)'", file: file) }
    return try AliasDevices(app: app, project: project, catalog: project.catalog(choice)).find(
        alias, atMost: most, options, at: now)
}

/// More devices of one alias than a person has.
private let most = 1_000

/// The devices of aliases in an app's own exports.
struct AliasDevices {
    let app: App
    let project: Project
    let catalog: RunsFolder

    /// - Parameter most: how many are found; of more, those that were active last.
    /// - Throws: `Diagnostics`, `Diagnostic`: what keeps the exports from being found or read.
    func find(_ alias: String, atMost most: Int, _ options: PlanOptions, at now: Timestamp) throws -> [(
        service: Int, target: Target
    )] {
        let file = project.file, place = SourcePosition(file: file, line: 1, column: 1)
        let compiler = AudienceCompiler(
            audience: CampaignAudience(position: place), file: file, app: app, project: project, fields: [])
        var query = try compiler.query(now: now)
        (query.aliases, query.aliasLimit) = ([alias], most)
        let export = try QueriedExport.of(compiler.databaseQuery, for: &query, in: catalog, options)
        return try QueriedExport.placing(export) {
            let sink = TargetCollector()
            _ = try query.scan(
                into: sink, deviceMemory: options.memory?.forDevices() ?? .max,
                isCancelled: { options.cancellation.isRequested })
            return sink.found.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

/// Keeps the targets of a few recipients.
private final class TargetCollector: RecipientSink {
    let recordLimit = Int.max
    private(set) var found: [Int: (service: Int, target: Target)] = [:]

    func receive(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in found[slot] = Recipient(record).map { (Int(record.service), $0.token) } }
    }

    func finish(slots: Int, dropping dropped: BitSet) throws { found = found.filter { !dropped.contains($0.key) } }
}
