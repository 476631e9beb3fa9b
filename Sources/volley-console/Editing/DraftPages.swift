import Accounts
import Automation
import Base
import Campaigns
import Cryptography
import HTTPTypes

/// Drafts: forms of campaigns that are not saved yet, as their writer filled them in. They are kept
/// with the accounts and not in the folder of campaigns, so nothing is planned or sent from them.
/// Saving one is saving the form, with the same checks.
enum DraftPages {
    static var routes: [Route] {
        [
            Route(method: .get, path: path, right: .right(.edit), answer: open),
            Route(
                method: .post, path: path + "/save", right: .right(.edit), changes: true,
                bodyLimit: Route.campaignBodyLimit, answer: save),
            Route(method: .get, path: path + "/discard", right: .right(.edit), answer: ask),
            Route(method: .post, path: path + "/discard", right: .right(.edit), changes: true, answer: discard),
        ]
    }

    static let path = "/draft"
    /// The field and the query with a draft's id.
    private static let field = "draft"
    /// The field that says which page a form is from. It is kept with the draft, so that the page
    /// finds its own one while the answer with the draft's id is on its way.
    private static let window = "draft.page"
    /// Fields that are about the request and not about the campaign.
    private static let passing: Set<String> = [
        CSRFProtection.field, OrderForm.digest, OrderForm.nonce, field, DraftOwner.field, "check", "anyway",
        "begin.draft",
    ]

    // MARK: - In forms

    /// What a form needs so that it can be kept: the id of its draft, the button, and a place for
    /// what the script says.
    static func controls(_ page: SavedDraft.Page, file: String?, _ visit: Visit) -> HTML {
        let address = path + "/save" + FormFields.query([("page", page.rawValue), ("file", file ?? "")])
        return """
            \(mark(visit, attributes: " data-draft=\"\(address)\"")) \
            <button formaction="\(address)" formnovalidate>Keep as a draft</button> <span class="note" role="status" data-draft-note></span>
            """
    }

    /// A hidden field with the id of the form's draft, which is discarded when the form is saved.
    static func mark(_ visit: Visit, attributes: HTML = "") -> HTML {
        let id = (visit.form[field] ?? visit.query[field]).flatMap { Int64($0) }
        return """
            <input type="hidden" name="\(field)" value="\(id.map(String.init) ?? "")"\(attributes)>\
            <input type="hidden" name="\(window)" value="\(visit.form[window].flatMap { Secrets.isOne($0) ? $0 : nil } ?? Secrets.make())">\
            <input type="hidden" name="\(DraftOwner.field)" value="\(visit.person.map { DraftOwner.text(of: $0.id, at: visit.now) } ?? "")">
            """
    }

    /// The draft of this person that the query names; nil without one.
    /// - Throws: `Refusal.notFound`: there is none, or it belongs to another form.
    static func chosen(_ page: SavedDraft.Page, file: String?, _ visit: Visit, _ site: Site) throws -> SavedDraft? {
        guard let id = visit.query[field] else { return nil }
        guard
            let draft = try drafts(visit, site).first(where: {
                String($0.id) == id && $0.page == page && $0.file == file
            })
        else {
            throw Refusal.notFound
        }
        return draft
    }

    /// What the page of an opened draft says above everything.
    static func notice(_ draft: SavedDraft, _ visit: Visit) -> HTML {
        let discard = path + "/discard" + FormFields.query([("id", String(draft.id))])
        let why: HTML =
            if visit.query["kept"] != nil {
                "Your session had ended when you sent this form: what you had written was kept as a draft."
            } else if visit.query["saved"] != nil { "The draft is kept." } else {
                "This is your draft of \(Words.moment(draft.savedAt))."
            }
        return """
            <p class="good" role="status">\(why) Only you see it, and nothing is sent from it; <i>Save</i> makes it the campaign. \
            <a href="\(discard)">Discard it</a></p>
            """
    }

    /// Removes the draft that a form was opened from or kept as, after the form was saved, also one
    /// that its page kept while the answer with the id was on its way. What is saved stays saved if
    /// that fails.
    static func discardSaved(_ visit: Visit, _ accounts: AccountStore) {
        guard let person = visit.person, let drafts = try? accounts.drafts(of: person.id) else { return }
        for draft in drafts where isFromSamePage(draft, visit) || String(draft.id) == visit.form[field] {
            try? accounts.discardDraft(draft.id, of: person.id)
        }
    }

    /// Another window of the same person is another page, also for the same file.
    private static func isFromSamePage(_ draft: SavedDraft, _ visit: Visit) -> Bool {
        visit.form[window].map { Secrets.isOne($0) && draft.fields[window] == $0 } ?? false
    }

    /// A form that was refused belongs to the draft that its page kept while the answer with the id
    /// was on its way, so that it does not become a second one.
    static func adopting(_ file: String, _ visit: Visit, _ site: Site) -> Visit {
        var visit = visit
        guard (visit.form[field] ?? "").isEmpty,
            let draft = try? drafts(visit, site).first(where: { $0.file == file && isFromSamePage($0, visit) })
        else { return visit }
        visit.form[field] = String(draft.id)
        return visit
    }

    // MARK: - Lists

    /// The drafts of this person, a line each; blank without any.
    /// - Parameter file: only those of this campaign; nil for all.
    static func panel(of file: String? = nil, _ visit: Visit, _ site: Site) throws -> HTML {
        guard visit.maySomewhere(.edit) else { return "" }
        let lines: [HTML] = try drafts(visit, site).filter { file == nil || $0.file == file }.map { draft in
            let query = FormFields.query([("id", String(draft.id))])
            return """
                <li><p><a href="\(path)\(query)" dir="auto">\(name(of: draft))</a></p>
                <p class="note">kept \(Words.moment(draft.savedAt)) · <a href="\(path)/discard\(query)">Discard</a></p></li>
                """
        }
        return lines.isEmpty
            ? ""
            : Words.panel(
                file == nil ? "Drafts" : "Your drafts", id: "drafts",
                "<p class=\"note\">Only you see them, and nothing is sent from them.</p><ul class=\"list\">\(lines)</ul>"
            )
    }

    private static func name(of draft: SavedDraft) -> String {
        let name = draft.fields["name"]?.trimming ?? ""
        return draft.file.map { $0.hasSuffix(".yaml") ? String($0.dropLast(".yaml".count)) : $0 }
            ?? (name.isEmpty ? "A new campaign" : name)
    }

    private static func drafts(_ visit: Visit, _ site: Site) throws -> [SavedDraft] {
        try visit.person.map { try site.accounts.drafts(of: $0.id) } ?? []
    }

    // MARK: - Keeping

    /// The form that an address belongs to; nil for one that is not kept.
    private static func form(of route: Route, _ query: [String: String]) -> (page: SavedDraft.Page, file: String?)? {
        let page: SavedDraft.Page? =
            switch route.path {
            case "/campaign/form": .form
            case "/campaign/save": .source
            case "/campaigns/new": .new
            case path + "/save": query["page"].flatMap(SavedDraft.Page.init)
            default: nil
            }
        guard let page else { return nil }
        let file = query["file"] ?? ""
        if page == .new { return (page, nil) }
        return ScheduleFiles.isCampaign(file) && !file.contains("/") && file.utf8.count <= 255 ? (page, file) : nil
    }

    /// Keeps a form.
    /// - Parameter isNew: whether it replaces no draft, whatever id it has.
    /// - Returns: the draft's id; nil for a form that is not about a campaign.
    /// - Throws: `AccountError.tooManyDrafts`.
    private static func keep(_ route: Route, _ visit: Visit, _ site: Site, for account: AccountID, isNew: Bool = false)
        throws -> Int64?
    {
        guard let (page, file) = form(of: route, visit.query) else { return nil }
        let base = visit.form[OrderForm.digest] ?? ""
        guard base.isEmpty || Secrets.isOne(base) else { return nil }
        return try site.accounts.keep(
            draft: visit.form.filter { !passing.contains($0.key) }, page, of: file, base: base,
            replacing: isNew ? nil : visit.form[field].flatMap { Int64($0) }, for: account, at: visit.now)
    }

    /// Keeps a form that came after the end of its session, for the person that the session
    /// belonged to.
    /// - Parameters:
    ///   - visit: with the form, and the secret of a session that ended.
    ///   - hasToken: whether the form has the token of that session. After a sign-out in another
    ///     window the browser knows no session, and the form alone says whose it is.
    /// - Returns: the way to sign in again, and from there to the draft; nil when the form cannot
    ///   be kept.
    static func keepAfterEnd(_ route: Route, _ visit: Visit, hasToken: Bool, _ site: Site) -> Answer? {
        let ended =
            hasToken ? visit.secret.flatMap(SecretToken.init).flatMap { try? site.accounts.account(ofEnded: $0) } : nil
        // A script that keeps drafts by itself tries again and again.
        guard visit.query["script"] == nil,
            let account = ended ?? DraftOwner.account(in: visit.form, site, at: visit.now),
            // A field of the form shows less than the secret of a session: it changes no draft that
            // there is.
            let id = try? keep(route, visit, site, for: account, isNew: ended == nil)
        else { return nil }
        return .redirect(
            "/sign-in" + FormFields.query([("to", path + FormFields.query([("id", String(id)), ("kept", "1")]))]))
    }

    private static func save(_ visit: Visit, _ site: Site) throws -> Answer {
        guard let route = routes.first(where: { $0.path == path + "/save" }),
            let id = try keep(route, visit, site, for: visit.signedIn().id)
        else { throw Refusal.unreadable }
        guard visit.query["script"] == nil else {
            return .json(.object(pairs: [("id", .string(String(id))), ("saved_at", .string(visit.now.description))]))
        }
        return .redirect(path + FormFields.query([("id", String(id)), ("saved", "1")]))
    }

    // MARK: - Opening

    private static func own(_ visit: Visit, _ site: Site) throws -> SavedDraft {
        guard let draft = try drafts(visit, site).first(where: { String($0.id) == visit.query["id"] }) else {
            throw Refusal.notFound
        }
        return draft
    }

    /// Leads to the form that the draft belongs to. If its file was removed since, or the draft is
    /// a source and the file has another now, both texts are shown.
    private static func open(_ visit: Visit, _ site: Site) throws -> Answer {
        guard visit.query["id"] != nil else {
            let list = try panel(visit, site)
            let none: HTML = list.markup.isEmpty ? "<p class=\"lead\">You have no drafts.</p>" : ""
            return .page(Page(title: "Drafts", place: .campaigns, content: "\(Words.head("Drafts"))\(list)\(none)"))
        }
        let draft = try own(visit, site)
        let query = [
            ("file", draft.file ?? ""), (field, String(draft.id)), ("kept", visit.query["kept"] ?? ""),
            ("saved", visit.query["saved"] ?? ""),
        ]
        guard let file = draft.file else { return .redirect("/campaigns/new" + FormFields.query(query)) }
        guard
            let item = try site.campaigns.items(project: site.project(), now: visit.now).first(where: {
                $0.file == file
            })
        else {
            return .page(try conflict(draft, file, present: nil, visit, site))
        }
        guard visit.may(.edit, app: item.app) else { throw Refusal.notAllowed }
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        // A form can be brought onto another text, if that can be read.
        guard
            ShownFile.digest(of: bytes) == draft.base
                || (draft.page == .form && YAMLEdit(CampaignSaving.text(of: bytes)) != nil)
        else {
            return .page(try conflict(draft, file, present: bytes, visit, site))
        }
        return .redirect((draft.page == .form ? "/campaign/form" : "/campaign/edit") + FormFields.query(query))
    }

    private static func conflict(_ draft: SavedDraft, _ file: String, present: [UInt8]?, _ visit: Visit, _ site: Site)
        throws -> Page
    {
        var text = draft.fields["text"], mistakes: [String: Mistake] = [:]
        if text == nil, let start = try base(of: draft, file, visit, site), var edit = YAMLEdit(start) {
            mistakes = CampaignForm.apply(draft.fields, to: &edit)
            text = edit.text
        }
        let written = CampaignForm.written(in: draft.fields)
        let sheet = CampaignEditor.EditorState(file: file, text: text ?? written, base: draft.base)
        return CampaignConflict.page(sheet, present, draft: draft.id, missing: missing(mistakes, written), visit, site)
    }

    /// What a form with mistakes holds: the text has nothing of the fields that have one. Blank
    /// without mistakes.
    private static func missing(_ mistakes: [String: Mistake], _ written: String) -> HTML {
        let lines: [HTML] = mistakes.sorted { $0.key < $1.key }.map {
            "<li class=\"error\"><b>Mistake.</b> \(Words.text(Diagnostic($0.value), withPlace: false))</li>"
        }
        return lines.isEmpty
            ? ""
            : Words.panel(
                "Not in this text yet", id: "missing",
                """
                <p>Fields with a mistake are not in your text below:</p><ul class="findings">\(lines)</ul>
                <p>The draft holds:</p><pre class="plan" dir="auto" tabindex="0">\(UntrustedText.shown(written))</pre>
                """)
    }

    /// The text that a form was filled in for, if a version has it.
    private static func base(of draft: SavedDraft, _ file: String, _ visit: Visit, _ site: Site) throws -> String? {
        let versions = try site.accounts.versions(of: file, count: 500)
        let version = versions.first { $0.digest == draft.base && visit.may(.edit, app: $0.app) }
        return try version.flatMap { try site.accounts.text(ofVersion: $0.number, of: file) }
    }

    // MARK: - Discarding

    private static func ask(_ visit: Visit, _ site: Site) throws -> Answer {
        let draft = try own(visit, site)
        let query = FormFields.query([("id", String(draft.id))])
        let written = draft.fields["text"] ?? CampaignForm.written(in: draft.fields)
        let content: HTML = """
            \(Words.head("Discard this draft?", "<p dir=\"auto\">\(name(of: draft))</p>"))
            <form class="panel" method="post" action="\(path)/discard\(query)">\(Form.token(visit))
            <p>What you wrote is removed, and cannot be brought back. The campaign itself stays as it is.</p>
            <p><button class="grave">Discard the draft</button> <a href="\(path)\(query)">Keep it</a></p></form>
            \(written.isEmpty ? "" : Words.panel("What it holds", id: "written", "<pre class=\"plan\" dir=\"auto\" tabindex=\"0\">\(UntrustedText.shown(written))</pre>"))
            """
        return .page(Page(title: "Discard this draft?", place: .campaigns, content: content))
    }

    private static func discard(_ visit: Visit, _ site: Site) throws -> Answer {
        let id = Int64(visit.query["id"] ?? "")
        if let id { try site.accounts.discardDraft(id, of: visit.signedIn().id) }
        return .redirect("/")
    }
}

/// Says in a form whose it is, so that what was written is kept when the session has ended. It
/// gives no right but to keep new drafts of that account, for a day, and ends with the process.
enum DraftOwner {
    static let field = "draft.owner"
    private static let key = RandomBytes.make(32)
    private static let validSeconds: Int64 = 86_400

    static func text(of account: AccountID, at moment: Timestamp) -> String {
        text(of: account, seconds: moment.epochSeconds)
    }

    private static func text(of account: AccountID, seconds: Int64) -> String {
        let code = HMACSHA256.code(of: Array("volley console draft \(account.number) \(seconds)".utf8), key: key)
        return "\(account.number)-\(seconds)-\(SHA256.hex(code))"
    }

    /// The active account that a form names; nil for one that this process did not make, or made
    /// more than a day ago.
    static func account(in form: [String: String], _ site: Site, at now: Timestamp) -> AccountID? {
        let text = form[field] ?? "", parts = text.split(separator: "-").compactMap { Int64($0) }
        guard parts.count >= 2, case let (account, seconds) = (AccountID(parts[0]), parts[1]),
            ConstantTime.areEqual(Array(text.utf8), Array(Self.text(of: account, seconds: seconds).utf8)),
            now.epochSeconds - seconds < validSeconds
        else { return nil }
        return (try? site.accounts.account(account))??.state == .active ? account : nil
    }
}
