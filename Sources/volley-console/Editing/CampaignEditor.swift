import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Planning
import Workspace

/// The page on which a campaign's source is written, with mistakes at their lines; and what its
/// form does.
enum CampaignEditor {
    static var routes: [Route] {
        [
            Route(method: .get, path: "/campaign/edit", right: .right(.edit), subject: .campaign, answer: show),
            Route(
                method: .post, path: "/campaign/save", right: .right(.edit), subject: .campaign, changes: true,
                bodyLimit: Route.campaignBodyLimit, answer: save),
        ]
    }

    /// What the form of an editor shows.
    struct EditorState {
        /// The file's name.
        var file: String
        var text: String
        /// Of the file as it was when the person opened it; blank for a new one.
        var base: String
        /// What was found in the text, in the order of the file; nil if the text was not checked
        /// yet.
        var findings: [Diagnostic]?
        /// What happened, above everything.
        var notice: HTML = ""
        var status = HTTPResponse.Status.ok
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        var sheet = EditorState(
            file: item.file, text: CampaignSaving.text(of: bytes), base: ShownFile.digest(of: bytes))
        // An older version is written over the present one, as any other text.
        if let number = visit.query["version"].flatMap(Int64.init) {
            let version = try site.accounts.versions(of: item.file, count: 500).first { $0.number == number }
            guard let version, visit.may(.seeCampaigns, app: version.app),
                let text = try site.accounts.text(ofVersion: number, of: item.file)
            else { throw Refusal.notFound }
            sheet.text = text
            sheet.notice =
                "<p class=\"note\">This is version \(TextFormat.count(Int(number))). It becomes the present one when you save it.</p>"
        }
        if let draft = try DraftPages.chosen(.source, file: item.file, visit, site) {
            guard draft.base == sheet.base else {
                return .redirect(DraftPages.path + FormFields.query([("id", String(draft.id))]))
            }
            (sheet.text, sheet.notice) = (draft.fields["text"] ?? sheet.text, DraftPages.notice(draft, visit))
        }
        return .page(page(try checked(sheet, visit, site), visit))
    }

    private static func save(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        var sheet = EditorState(
            file: item.file, text: visit.form["text"] ?? "", base: visit.form[OrderForm.digest] ?? "")
        func again(_ objections: [Diagnostic]) throws -> Answer {
            sheet.notice = refusal(objections)
            sheet.status = .unprocessableContent
            return .page(page(try checked(sheet, visit, site), visit))
        }
        guard visit.form["check"] == nil else { return .page(page(try checked(sheet, visit, site), visit)) }
        let text = String(decoding: CampaignSaving.bytes(of: sheet.text, like: nil), as: UTF8.self)
        let present = FilePaths.exists(item.path) ? try FilePaths.read(item.path, atMost: Route.campaignBodyLimit) : nil
        if visit.form[ChangeQuestion.back] != nil { return .page(page(try checked(sheet, visit, site), visit)) }
        if present.map(ShownFile.digest) == sheet.base,
            let question = try ChangeQuestion(from: present, to: text, of: item, visit, site)
        {
            let answered: String?
            do throws(Mistake) { answered = try question.answered(by: visit.form) } catch {
                return try again([Diagnostic(error)])
            }
            guard let answered else {
                return .page(
                    question.page(item, action: "/campaign/save" + FormFields.query([("file", item.file)]), visit))
            }
            sheet.text = answered
        }
        switch try site.saving.save(sheet.text, as: item.file, base: sheet.base, visit, site) {
        case .saved: return .redirect(Words.path(ofCampaign: item.file) + "&saved=1")
        case .conflict(let present): return .page(CampaignConflict.page(sheet, present, visit, site))
        case .refused(let objections): return try again(objections)
        }
    }

    /// With what is found in its text.
    static func checked(_ sheet: EditorState, _ visit: Visit, _ site: Site) throws -> EditorState {
        var sheet = sheet
        // A new one is also in the folder, under any name.
        let path = FilePaths.join(site.folder, name: sheet.file.isEmpty ? "new-campaign.yaml" : sheet.file)
        let text = String(decoding: CampaignSaving.bytes(of: sheet.text, like: nil), as: UTF8.self)
        sheet.findings = try CampaignFindings(file: path, text: text, visit, site).all
        return sheet
    }

    static func refusal(_ objections: [Diagnostic]) -> HTML {
        "<div class=\"stop\" role=\"alert\"><p><b>Not saved.</b></p>\(objections.map { "<p>\(Words.text($0))</p>" as HTML })</div>"
    }

    /// The page: what was found, and the text.
    /// - Parameters:
    ///   - action: where the form goes; nil to save the file.
    ///   - fields: more of the form.
    static func page(
        _ sheet: EditorState, _ visit: Visit, title: String? = nil, action: String? = nil, fields: HTML = ""
    ) -> Page {
        let title = title ?? "Edit \(sheet.file)"
        let found: HTML =
            sheet.findings.map { findings in
                // A reason that keeps it from being saved is a mistake, too, and is named above.
                guard !findings.isEmpty || sheet.status == .ok else { return "" }
                let list: HTML =
                    findings.isEmpty
                    ? "<p class=\"good\" role=\"status\">No mistakes.</p>"
                    : "<div role=\"status\"><ul class=\"findings\">\(findings.map(CampaignsPage.finding))</ul></div>"
                return "\(list)<p class=\"note\">\(CampaignFindings.scope)</p>"
            } ?? ""
        let other: HTML =
            action == nil
            ? "<p><a href=\"/campaign/form\(FormFields.query([("file", sheet.file)]))\">Edit in a form</a> · <a href=\"\(Words.path(ofCampaign: sheet.file))\">Back without saving</a></p>"
            : ""
        let content: HTML = """
            \(Words.head("\(title)"))
            \(sheet.notice)
            <form class="panel editor" method="post" action="\(action ?? "/campaign/save" + FormFields.query([("file", sheet.file)]))">
            \(Form.token(visit))<input type="hidden" name="\(OrderForm.digest)" value="\(sheet.base)">
            \(fields)
            <p class="field"><label for="text">Source</label>
            <textarea id="text" name="text" rows="28" spellcheck="false" dir="ltr" class="code" wrap="off">\n\(sheet.text)</textarea></p>
            \(found)
            <p><button class="main">Save</button> <button name="check" value="1">Check</button>
            \(DraftPages.controls(action == nil ? .source : .new, file: action == nil ? sheet.file : nil, visit))</p>
            </form>
            \(other)
            """
        return Page(status: sheet.status, title: title, place: .campaigns, content: content)
    }
}

/// Two people changed one file: both texts, and how to continue.
enum CampaignConflict {
    /// - Parameters:
    ///   - draft: that the text comes from; nil for none.
    ///   - missing: what the person wrote and the text does not hold.
    static func page(
        _ sheet: CampaignEditor.EditorState, _ present: [UInt8]?, draft: Int64? = nil, missing: HTML = "",
        _ visit: Visit, _ site: Site
    ) -> Page {
        var visit = visit
        if let draft { visit.form["draft"] = String(draft) }
        let theirs = present.map(CampaignSaving.text)
        let who = ((try? site.accounts.versions(of: sheet.file, count: 1)) ?? []).first
        let isTheirs =
            who.map { version in
                present.map { ShownFile.digest(of: Array(CampaignSaving.text(of: $0).utf8)) == version.digest } ?? false
            }
            ?? false
        let isOwn = isTheirs && who?.person.account != nil && who?.person.account == visit.person?.id
        let by: HTML =
            isOwn
            ? "You" : isTheirs ? who?.person.name.map { "<b>\($0.text)</b>" } ?? "Another person" : "Another person"
        let what: HTML = theirs == nil ? "removed the file" : "saved another text"
        let own = String(decoding: CampaignSaving.bytes(of: sheet.text, like: nil), as: UTF8.self)
        let difference: HTML = theirs.map { LineDiff.html(from: $0, to: own) } ?? ""
        let content: HTML = """
            \(Words.head("The file was changed meanwhile", "<p><code dir=\"auto\">\(sheet.file)</code></p>"))
            <p class="stop" role="alert">\(by) \(what) while you were writing. Nothing of yours was saved, and nothing of yours is lost: it is below.</p>
            \(Words.panel("From the file as it is now to your text", id: "difference", difference))
            \(missing)
            <form class="panel editor" method="post" action="\(theirs == nil ? "/campaigns/new" : "/campaign/save" + FormFields.query([("file", sheet.file)]))">
            <h2>Your text</h2><p>Bring the two together here. Saving replaces the file as it is now with this.</p>
            \(Form.token(visit))<input type="hidden" name="\(OrderForm.digest)" value="\(present.map(ShownFile.digest) ?? "")">
            <p class="field"><label for="text">Source</label>
            <textarea id="text" name="text" rows="28" spellcheck="false" dir="ltr" class="code" wrap="off">\n\(own)</textarea></p>
            <p><button class="main">Save this text</button>
            \(DraftPages.controls(theirs == nil ? .new : .source, file: theirs == nil ? nil : sheet.file, visit))</p></form>
            <p><a href="\(Words.path(ofCampaign: sheet.file))">Leave the file as it is now</a></p>
            """
        return Page(status: .conflict, title: "The file was changed meanwhile", place: .campaigns, content: content)
    }
}

/// What is wrong with a campaign, and what is worth a warning, as `volley check` finds it: with
/// volley.yaml, lists, the columns of exports and credentials, but without the rows of exports. All
/// pages say the same of the same text.
struct CampaignFindings {
    /// In the order of the file.
    var all: [Diagnostic]

    var errors: [Diagnostic] { all.filter { $0.severity == .error } }

    /// - Parameter text: what the file will hold, where that is not saved yet; nil for what it
    ///   holds.
    init(file: String, text: String? = nil, _ visit: Visit, _ site: Site) throws {
        let (project, now) = (try site.project(), visit.now)
        let bytes = try text.map { Array($0.utf8) } ?? FilePaths.read(file, atMost: Route.campaignBodyLimit)
        let draft = CampaignSaving.draft(bytes, file: file, project, at: now)
        // The check reads the exports and keys of that app, and a remedy may name other apps.
        if let app = draft.app, !visit.may(.seeCampaigns, app: app.value) {
            all = [CampaignSaving.foreign(app)]
            return
        }
        var campaign = CampaignFile(file, text: text, in: site.campaigns.choice)
        campaign.isConfined = true
        let result = check(campaign, at: now)
        // If the text has a mistake, only its own warnings are known.
        all =
            result.errors.isEmpty
            ? result.lint?.shown ?? [] : result.errors + draft.findings.filter { $0.severity == .warning }
    }

    /// The list of checked things, below the findings.
    static let scope: HTML = """
        Checked: the text, the settings of its app, and the columns of the exports. How many devices get it, and what they read, is in the \
        <i>Preview</i>.
        """
}
