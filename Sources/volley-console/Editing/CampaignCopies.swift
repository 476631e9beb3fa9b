import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Runs

/// New campaigns, copies of others, and campaigns that are no longer needed.
enum CampaignCopies {
    static var routes: [Route] {
        [
            Route(method: .get, path: "/campaigns/new", right: .right(.edit), answer: show),
            Route(
                method: .post, path: "/campaigns/new", right: .right(.edit), changes: true, bodyLimit: Route.campaignBodyLimit, answer: make
            ),
            Route(method: .post, path: "/campaign/archive", right: .right(.edit), subject: .campaign, changes: true, answer: archive),
        ]
    }

    /// A new campaign to begin with, or a copy of the one that the query names.
    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        var text = try blank(visit, site)
        if visit.query["file"] != nil {
            let item = try CampaignsPage.item(visit, site)
            guard item.app.map({ visit.may(.edit, app: $0) }) ?? visit.may(.edit, app: nil) else { throw Refusal.notAllowed }
            text = copy(CampaignSaving.text(of: try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)))
        }
        let notice: HTML =
            try visit.query["file"].map {
                """
                <p class="note">A copy of <code dir="auto">\($0)</code>, without its times. Give it a name of its own in the first lines, and save \
                it; then you can go on in the form.</p>
                """
            } ?? beginning(visit, site)
        return .page(page(.init(file: "", text: text, base: "", notice: notice), visit))
    }

    /// The first lines of a campaign as a form, filled in as it was sent. Saving it opens the form for the rest.
    private static func beginning(_ visit: Visit, _ site: Site) throws -> HTML {
        func value(_ name: String) -> String { visit.form["begin"] == nil ? "" : visit.form[name] ?? "" }
        let apps = try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
        let options: [HTML] = apps.map { "<option\($0 == value("app") ? " selected" : "" as HTML)>\($0)</option>" }
        return """
            <form class="panel editor" method="post" action="/campaigns/new">
            <h2>Begin with a form</h2>\(Form.token(visit))<input type="hidden" name="begin" value="1">
            \(Form.text("Name", name: "name", value: value("name"), attributes: " required autocomplete=\"off\" aria-describedby=\"name-hint\""))
            <p class="note" id="name-hint">Small letters, digits and hyphens: spring-sale</p>
            <p class="field"><label for="app">App</label><select id="app" name="app">\(options)</select></p>
            \(Form.text("Title", name: "title", value: value("title"), attributes: " required"))
            \(Form.text("Text", name: "body", value: value("body")))
            \(Form.text("Tags, with commas between them", name: "tags", value: value("tags"), attributes: " autocomplete=\"off\""))
            <p class="field">\(GroupInput.box("Everyone, every device of the export, instead of tags", name: "everyone", value: "true",
                isChecked: value("everyone") == "true"))</p>
            <p><button class="main">Go on</button></p>
            </form>
            <h2>Or write the source</h2>
            """
    }

    /// The source that the form describes.
    private static func begun(_ form: [String: String]) -> String {
        let name = form["name"] ?? ""
        guard var edit = YAMLEdit("name: x\napp: x\naudience: {}\ncontent: {}\n") else { return "" }
        let tags = TagsControl.typed(form["tags"] ?? "")
        try? edit.set(.text(name.trimming), at: ["name"])
        try? edit.set(.text(form["app"] ?? ""), at: ["app"])
        try? form["everyone"] == "true"
            ? edit.set(.truth(true), at: ["audience", "everyone"]) : edit.set(.list(tags), at: ["audience", "tags"])
        try? edit.set(.text(form["title"] ?? ""), at: ["content", "title"])
        if let body = form["body"], !body.isEmpty { try? edit.set(.text(body), at: ["content", "body"]) }
        return edit.text
    }

    /// Why the form does not say which devices are meant; nil if it does. Blank tags never stand for everyone.
    private static func mistake(inAudienceOf form: [String: String]) -> Diagnostic? {
        switch (TagsControl.typed(form["tags"] ?? "").isEmpty, form["everyone"] == "true") {
        case (true, false):
            Diagnostic("no tag is named, and everyone is not chosen", remedy: "Name a tag; or, if every device is meant, check Everyone.")
        case (false, true):
            Diagnostic("tags are named, and everyone is chosen too", remedy: "Keep one of them.")
        default: nil
        }
    }

    private static func page(_ sheet: CampaignEditor.EditorState, _ visit: Visit) -> Page {
        CampaignEditor.page(
            sheet, visit, title: "New campaign",
            action: "/campaigns/new" + (visit.query["file"].map { FormFields.query([("file", $0)]) } ?? ""),
            fields:
                "<p class=\"note\">The file is called as the campaign: <code>spring-sale.yaml</code> for <code>name: spring-sale</code>.</p>"
        )
    }

    /// What marketing fills in.
    private static func blank(_ visit: Visit, _ site: Site) throws -> String {
        let apps = try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
        return """
            name: new-campaign
            app: \(apps.first ?? "shop")
            audience:
              tags: [vip]
            content:
              title: "A title"
              body: "A sentence or two"

            """
    }

    /// With another name, and without times: two campaigns with the same name and schedule would block each other.
    private static func copy(_ text: String) -> String {
        guard var edit = YAMLEdit(text) else { return text }
        if case .text(let name)? = try? edit.value(at: ["name"]) { try? edit.set(.text(name.prefix(59) + "-copy"), at: ["name"]) }
        try? edit.set(nil, at: ["schedule"])
        return edit.text
    }

    private static func make(_ visit: Visit, _ site: Site) throws -> Answer {
        let isBegun = visit.form["begin"] != nil
        var sheet = CampaignEditor.EditorState(file: "", text: isBegun ? begun(visit.form) : visit.form["text"] ?? "", base: "")
        let text = String(decoding: CampaignSaving.bytes(of: sheet.text, like: nil), as: UTF8.self)
        let edit = YAMLEdit(text)
        let name: String? = if case .text(let name)? = try? edit?.value(at: ["name"]) { name } else { nil }
        sheet = try CampaignEditor.checked(sheet, visit, site)
        guard visit.form["check"] == nil else { return .page(page(sheet, visit)) }
        func again(_ objections: [Diagnostic]) throws -> Answer {
            // The form is returned as it was filled in, without source that the person did not write.
            let form = isBegun ? try beginning(visit, site) : ""
            if isBegun { sheet = .init(file: "", text: try blank(visit, site), base: "") }
            sheet.notice = "\(CampaignEditor.refusal(objections))\(form)"
            sheet.status = .unprocessableContent
            return .page(page(sheet, visit))
        }
        if isBegun, let mistake = mistake(inAudienceOf: visit.form) { return try again([mistake]) }
        guard let name, Campaign.isName(name), ScheduleFiles.isCampaign(name + ".yaml") else {
            let found = isBegun ? sheet.findings ?? [] : []
            let mistakes = found.filter { $0.severity == .error }.map { Diagnostic($0.message, remedy: $0.remedy) }
            let nameless = Diagnostic(
                "the campaign has no name that a file could have",
                remedy: "Write a line `name: …` with small letters, digits and hyphens, for example `name: spring-sale`.")
            return try again(mistakes.isEmpty ? [nameless] : mistakes)
        }
        let file = name + ".yaml"
        guard !file.hasPrefix("-") else {
            let option = Diagnostic(
                "the file \(file) of this campaign would be taken for an option by commands",
                remedy: "Begin its name with a letter or a digit, for example `name: spring-sale`.")
            return try again([option])
        }
        switch try site.saving.save(text, as: file, base: nil, copyOf: visit.query["file"], visit, site) {
        case .saved where isBegun: return .redirect("/campaign/form" + FormFields.query([("file", file)]))
        case .saved: return .redirect(Words.path(ofCampaign: file) + "&saved=1")
        case .refused(let objections): return try again(objections)
        case .conflict:
            return try again([Diagnostic("there is a campaign file \(file) already", remedy: "Give this campaign another name.")])
        }
    }

    /// The form on the page of a campaign. It names the plans that are cancelled with the campaign.
    static func archiveForm(_ item: CampaignCache.Item, digest: String, _ visit: Visit, _ site: Site) throws -> HTML {
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
            what is being sent continues, and IT finds the file in the folder <code>.archive</code>.</p>\(cancels)
            \(OrderForm.hidden(visit, digest: digest))\(Form.confirmed("Archive", does: "Yes, archive the campaign"))</form>
            """
    }

    /// The plans that archiving a campaign cancels: those that the person may take back.
    private static func cancelled(with item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> [RunSummary] {
        try site.archive.plans(ofFile: item.path).filter { visit.may(RunAction.withdraw.right, app: $0.app) }
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
                "The campaign is not the one that the page showed: it was changed since. Load the page again, and look at it.")
        }
        // Until the sender has cancelled them, and if it is not there, their pages say that the campaign is gone.
        var (ordered, waiting): ([RunSummary], [String]) = ([], [])
        var failure: (any Error)?
        for plan in plans {
            do {
                _ = try site.orders.place(Order(nonce: Secrets.make(), kind: .withdraw(run: plan.id), by: person.account))
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
