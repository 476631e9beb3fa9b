import Accounts
import Base

/// The devices that would get a campaign now, with its texts; and why one device gets it or not.
/// Nothing is sent.
enum CampaignPreview {
    static var routes: [Route] {
        [
            Route(
                method: .get, path: "/campaign/preview", right: .right(.seeCampaigns), subject: .campaign, answer: show),
            Route(
                method: .post, path: "/campaign/preview", right: .right(.seeCampaigns), subject: .campaign,
                changes: true, answer: again),
            Route(
                method: .get, path: "/campaign/preview/live.json", right: .right(.seeCampaigns), subject: .campaign,
                answer: live),
            Route(
                method: .post, path: "/campaign/why", right: .right(.seeCampaigns), subject: .campaign, changes: true,
                answer: why),
        ]
    }

    private static func question(_ item: CampaignCache.Item, _ site: Site) -> PlanningJobs.Question {
        PlanningJobs.Question(
            kind: .preview, file: item.path, stamps: [FileStamp(path: item.path), FileStamp(path: site.projectFile)])
    }

    /// nil while it is being counted, and while the console is busy: then the page requests it
    /// again.
    private static func result(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> PlanningJobs.Result?
    {
        do { return try site.jobs.answer(to: question(item, site), for: visit.person?.account) } catch is Refusal {
            return nil
        }
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let result = try result(item, visit, site)
        // The preview itself has a heading.
        let head: HTML = result.map { $0.hasMistakes } ?? true ? Words.head("Preview of \(item.name ?? item.file)") : ""
        let why: HTML = result?.hasMistakes == false ? whyForm(FormFields.query([("file", item.file)]), visit) : ""
        let content: HTML = "\(head)\(back(item))\(piece(result, item, visit))\(why)"
        return .page(Page(title: "Preview of \(item.name ?? item.file)", place: .campaigns, content: content))
    }

    /// The preview of a campaign, or a note that it is being counted.
    static func piece(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> HTML {
        piece(try result(item, visit, site), item, visit)
    }

    /// How many devices the preview counted; nil while it is being counted, and for a campaign with
    /// mistakes.
    static func audience(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> Int? {
        guard let result = try result(item, visit, site), !result.hasMistakes else { return nil }
        return result.output.firstMatch(of: #/data-figure="audience" data-value="([0-9]+)"/#).flatMap { Int($0.1) }
    }

    private static func piece(_ result: PlanningJobs.Result?, _ item: CampaignCache.Item, _ visit: Visit) -> HTML {
        let query = FormFields.query([("file", item.file)])
        guard let result else {
            return """
                <section class="panel" aria-labelledby="counting" data-live="/campaign/preview/live.json\(query)" data-mark="">
                <h2 id="counting">Devices are being counted</h2><p>Exports of millions take some seconds. Nothing is sent.</p>\
                <p class="note" data-without-script><a href="/campaign/preview\(query)">Refresh</a></p></section>
                """
        }
        return """
            <form method="post" action="/campaign/preview\(query)" class="turns"><span class="note">As of \(Words.moment(result.at)).</span>\
            \(Form.token(visit))<button>Count again</button></form>
            \(result.hasMistakes ? "<p class=\"stop\">There is no preview before this is mended:</p>" : "" as HTML)
            \(visit.may(.edit, app: item.app) ? result.piece : withoutForm(result))
            """
    }

    /// All readers see the same preview; those that may not edit see no link to the form. Text of
    /// others holds no tag, as the child escaped it.
    private static func withoutForm(_ result: PlanningJobs.Result) -> HTML {
        HTML(
            stringLiteral: result.output.replacing(#/<a href="\/campaign\/form[^>]*>([^<]*)<\/a>/#) { String($0.1) })
    }

    private static func back(_ item: CampaignCache.Item) -> HTML {
        "<p class=\"note\"><a href=\"\(Words.path(ofCampaign: item.file))\">Back to the campaign</a></p>"
    }

    private static func live(_ visit: Visit, _ site: Site) throws -> Answer {
        let result = try site.jobs.answer(
            to: question(CampaignsPage.item(visit, site), site), for: visit.person?.account)
        return .json(
            .object(pairs: [("is_live", .bool(result == nil)), ("mark", .string("")), ("pieces", .object(pairs: []))]))
    }

    private static func again(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        site.jobs.forget(question(item, site))
        return .redirect("/campaign/preview" + FormFields.query([("file", item.file)]))
    }

    // MARK: - Why one device

    private static func whyForm(_ query: String, _ visit: Visit) -> HTML {
        DeviceExplanation.form(action: "/campaign/why\(query)", visit)
    }

    private static func why(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        var question = question(item, site)
        question.kind = .why
        question.input = visit.form[DeviceExplanation.device]?.trimming ?? ""
        let action = "/campaign/why" + FormFields.query([("file", item.file)])
        let piece = try DeviceExplanation.answer(to: question, action: action, visit, site)
        return .page(
            Page(
                title: "Why this device?", place: .campaigns,
                content: "\(Words.head("Why this device?", "<p>\(item.name ?? item.file)</p>"))\(piece)\(back(item))"))
    }
}
