import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Runs

/// Campaigns that are no longer needed.
enum CampaignArchiving {
    static var routes: [Route] {
        [
            Route(
                method: .post, path: "/campaign/archive", right: .right(.edit), subject: .campaign, changes: true,
                answer: archive)
        ]
    }

    /// The form on the page of a campaign. It names the plans that are cancelled with the campaign.
    static func form(_ item: CampaignCache.Item, digest: String, _ visit: Visit, _ site: Site) throws -> HTML {
        let plans = try cancelled(with: item, visit, site).map(\.id)
        let links = HTML(joined: plans.map { "<li><a href=\"\(Words.path(of: $0))\">\($0)</a></li>" })
        let cancels: HTML =
            plans.isEmpty
            ? ""
            : """
            <p><b>\(TextFormat.plural(plans.count, one: "This plan waits, and is", many: "These plans wait, and are")) cancelled with it:</b></p>
            <ul>\(links)</ul><input type="hidden" name="plans" value="\(plans.joined(separator: " "))">
            """
        return """
            <form class="action" method="post" action="/campaign/archive\(FormFields.query([("file", item.file)]))">
            <h3>Archive</h3><p>The file leaves the list, and nothing is planned from it any more. Its runs and reports stay, \
            what is being sent continues, and the operators of Volley can bring it back.</p>\(cancels)
            \(OrderForm.hidden(visit, digest: digest))\(Form.confirmed("Archive", does: "Yes, archive the campaign"))</form>
            """
    }

    /// The plans that archiving a campaign cancels: those that the person may take back.
    private static func cancelled(with item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> [RunSummary] {
        try site.archive.plans(ofFile: item.path).filter { visit.may(RunAction.withdraw.right, app: $0.app) }
    }

    /// Why there is no such campaign: the person that archived it, if this one may see its app.
    static func refusal(of file: String, _ visit: Visit, _ site: Site) -> Refusal {
        let page = try? site.accounts.activities(ActivityFilter(kind: .campaignArchived), count: 200)
        guard let last = page?.activities.first(where: { $0.subject == file && visit.may(.seeCampaigns, app: $0.app) })
        else {
            return .notFound
        }
        let name = last.person.name?.text ?? "Another person"
        return Refusal(
            status: .notFound, title: "This campaign was archived",
            words: "\(name) archived it on \(DateWords.utc(last.at)). The operators of Volley can bring it back.")
    }

    private static func archive(_ visit: Visit, _ site: Site) throws -> Answer {
        guard let person = visit.person else { throw Refusal.notAllowed }
        let item = try CampaignsPage.item(visit, site)
        let plans = try cancelled(with: item, visit, site)
        guard Set(plans.map(\.id)) == Set((visit.form["plans"] ?? "").split(separator: " ").map(String.init)) else {
            throw Refusal.outdated(
                "The plans that wait are not those that the page showed: one was made, sent or cancelled since. Load the page again, and look at them."
            )
        }
        if !plans.isEmpty { try site.orders.checkUsable() }
        guard try site.saving.archive(item.file, app: item.app, base: visit.form[OrderForm.digest] ?? "", visit) else {
            throw Refusal.outdated(
                "The campaign is not the one that the page showed: it was changed since. Load the page again, and look at it."
            )
        }
        // Until the sender has cancelled them, and if it is not there, their pages say that the
        // campaign is gone.
        var (ordered, waiting): ([RunSummary], [String]) = ([], [])
        var failure: (any Error)?
        for plan in plans {
            do {
                _ = try site.orders.place(
                    Order(nonce: Secrets.make(), kind: .withdraw(run: plan.id), by: person.account))
                ordered.append(plan)
            } catch {
                waiting.append(plan.id)
                failure = failure ?? error
            }
        }
        // A note that fails keeps no plan from being cancelled.
        let notes = [(ActivityKind.campaignArchived, item.app, item.file)] + ordered.map { (.withdrawn, $0.app, $0.id) }
        var unnoted: (any Error)?
        for (kind, app, subject) in notes {
            do { try site.note(kind, app: app, subject: subject, visit) } catch { unnoted = unnoted ?? error }
        }
        if let failure { throw Refusal.stillWaiting(waiting, failure) }
        if let unnoted { throw unnoted }
        return .redirect("/campaigns")
    }
}
