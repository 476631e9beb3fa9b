import Accounts
import Automation
import Base
import Campaigns

/// What is known of the tags of a campaign's exports while its form is open: a child counts them (`PlanningChild`), and the form does not
/// wait.
enum KnownTags {
    case counting
    case counted(CountedTags, at: Timestamp)
    /// The exports cannot be read; what is wrong.
    case unknown(HTML)

    static var route: Route {
        Route(method: .get, path: "/campaign/form/live.json", right: .right(.edit), subject: .campaign, answer: live)
    }

    /// What is known by now.
    static func of(_ item: CampaignShelf.Item, _ edit: YAMLEdit, _ visit: Visit, _ site: Site) -> KnownTags {
        let exports = CampaignForm.text(of: (try? edit.value(at: ["audience", "devices"])) ?? nil)
        let question = PlanningJobs.Question(
            kind: .tags, file: item.path, exports: [item.app ?? "", exports], stamps: [FileStamp(path: site.projectFile)])
        // When the console is busy, the form asks again.
        guard let result = (try? site.jobs.answer(to: question, for: visit.person?.account)) ?? nil else { return .counting }
        guard !result.hasMistakes, let counted = CountedTags(result.output) else { return .unknown(result.piece) }
        return .counted(counted, at: result.at)
    }

    /// For the open form: only what was not known is filled in, so that nothing is lost that a person has done meanwhile.
    private static func live(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        guard let edit = YAMLEdit(CampaignSaving.text(of: bytes)) else { throw Refusal.notFound }
        let known = of(item, edit, visit, site)
        let isCounting = if case .counting = known { true } else { false }
        let present = CampaignForm.text(of: (try? edit.value(at: TagsControl.path)) ?? nil)
        let pieces = isCounting ? [] : TagsControl.pieces(known, present: TagsControl.list(present))
        return .json(
            .object(pairs: [
                ("is_live", .bool(isCounting)), ("mark", .string("")),
                ("pieces", .object(pairs: pieces.map { ($0.place, .string($0.content.markup)) })),
            ]))
    }
}
