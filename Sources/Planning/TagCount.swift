public import Audience
public import Base
import Campaigns
import PushServices
import Workspace

/// Counts the devices of the exports that a campaign or its app names, by their tags, and says
/// which other columns the exports have: the possible audiences of a campaign. Mistakes elsewhere
/// in the campaign do not matter.
/// - Parameters:
///   - most: how many tags, the most frequent first; those that the campaign names are added.
/// - Throws: `Diagnostics`, `Diagnostic`: what keeps the exports from being found or read.
public func tagCounts(
    _ campaign: CampaignFile, most: Int, _ options: PlanOptions, at now: Timestamp
) throws -> TagCounts {
    guard let path = campaign.project.file ?? Project.find(startingAt: FilePaths.folder(of: campaign.path)) else {
        throw CampaignContext.noProject(of: campaign.path, remedy: "Name one.")
    }
    let project = try Project.read(file: path).0
    let draft = Campaign.draft(file: campaign.path, now: now) { name in
        project.app(named: name)?.services.map(\.service) ?? [PushServices.standard]
    }
    guard let audience = draft.audience else { throw Diagnostics(draft.findings.filter { $0.severity == .error }) }
    guard let app = draft.app.flatMap({ project.app(named: $0.value) }) else {
        throw Diagnostic("the campaign names no app of volley.yaml", at: draft.app?.position ?? audience.position)
    }
    if let own = audience.ownAudience {
        throw Diagnostic(
            "\(own.service.displayName) chooses the devices of this campaign, and Volley does not know their tags",
            at: audience.position,
            remedy: "Look the tags up there.")
    }
    let roots = campaign.isConfined ? ConsoleRoots(project, campaign.project) : nil
    let zone = draft.campaign?.schedule?.zone.fallback
    if let foreign = roots?.mistakes(in: audience, of: campaign.path, zone: zone, at: now), !foreign.isEmpty {
        throw Diagnostics(foreign)
    }
    var exports = CampaignAudience(position: audience.position)
    (exports.devices, exports.deviceQuery) = (audience.devices, audience.deviceQuery)
    exports.maximumBadRowShare = audience.maximumBadRowShare
    let compiler = AudienceCompiler(
        audience: exports, file: campaign.path, app: app, project: project, fields: [],
        activity: draft.content?.activity, zone: zone,
        roots: roots)
    let named = [audience.anyTags, audience.allTags, audience.noneTags].flatMap(\.names).map(\.value)
    var query = try compiler.query(now: now)
    let export = try QueriedExport.of(
        compiler.databaseQuery, for: &query, in: project.catalog(campaign.project), options)
    return try QueriedExport.placing(export) {
        var counts = try query.tagCounts(
            most: most, named: Array(named.prefix(most)), deviceMemory: options.memory?.forDevices() ?? .max,
            where: isName, isCancelled: { options.cancellation.isRequested })
        counts.facts = try query.columnFacts { options.cancellation.isRequested }
        return counts
    }
}

/// Whether a tag can be shown: no token, where volley.yaml takes their column for that of tags, and
/// nothing that a form would change. Exports keep non-ASCII white space around a tag, and a form
/// removes it: the rest would be another tag.
private func isName(_ tag: String) -> Bool {
    guard !SecretText.holdsToken(tag), !(tag.first?.isWhitespace ?? true), !(tag.last?.isWhitespace ?? true) else {
        return false
    }
    return !tag.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{FFFD}" }
}
