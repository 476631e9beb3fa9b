import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Reports

/// What most people change in a campaign, as a form: each field is a value of the source, and saving changes only those that differ.
enum CampaignForm {
    /// A field and the key that it stands for.
    struct Field: Sendable {
        enum Kind: Sendable { case line, lines, list, choice }

        var path: [String]
        var label: String
        var kind: Kind
        /// Below the field.
        var hint = ""
        var isRequired = false

        var name: String { path.joined(separator: ".") }
    }

    static let fields: [Field] = [
        Field(path: ["name"], label: "Name", kind: .line, hint: "Small letters, digits and hyphens: spring-sale", isRequired: true),
        Field(path: ["app"], label: "App", kind: .choice, isRequired: true),
        Field(path: ["description"], label: "What it is for", kind: .lines, hint: "For colleagues; no device shows it."),
        Field(path: ["content", "title"], label: "Title", kind: .line),
        Field(path: ["content", "subtitle"], label: "Subtitle", kind: .line, hint: "On iPhones only."),
        Field(path: ["content", "body"], label: "Text", kind: .lines),
        Field(
            path: ["audience", "tags"], label: "Tags", kind: .list,
            hint: "One in a line, or with commas between them. Devices with at least one of them get it."),
        Field(path: ["audience", "everyone"], label: "Everyone", kind: .choice, hint: "Instead of tags."),
        Field(path: ["audience", "devices"], label: "Device exports", kind: .list, hint: "One file in a line; blank for that of the app."),
        Field(
            path: ["schedule", "at"], label: "Sent at", kind: .line,
            hint: "2026-12-01 09:00, on the clock of the zone below. Blank to send it by hand."),
        Field(
            path: ["schedule", "repeat"], label: "Repeated", kind: .line, hint: "In place of one moment: 0 9 * * 1 is every Monday at 9."),
        Field(path: ["schedule", "timezone"], label: "Time zone", kind: .line, hint: "Europe/Berlin"),
    ]

    static var routes: [Route] {
        [
            Route(method: .get, path: "/campaign/form", right: .right(.edit), subject: .campaign, answer: show),
            Route(
                method: .post, path: "/campaign/form", right: .right(.edit), subject: .campaign, changes: true,
                bodyLimit: Route.campaignBodyLimit, answer: save),
        ]
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        return .page(try page(item, read(item), visit, site))
    }

    private static func read(_ item: CampaignShelf.Item) throws -> [UInt8] {
        try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
    }

    // MARK: - The page

    /// What a person typed before, and why it was not saved.
    private struct Trial {
        var typed: [String: String] = [:]
        var mistakes: [String: Mistake] = [:]
        /// The source as it would be.
        var edit: YAMLEdit?
        var notice: HTML = ""
        var status = HTTPResponse.Status.ok
    }

    private static func page(_ item: CampaignShelf.Item, _ bytes: [UInt8], _ visit: Visit, _ site: Site, _ trial: Trial = Trial()) throws
        -> Page
    {
        let source = "<a href=\"/campaign/edit\(FormFields.query([("file", item.file)]))\">Edit the source</a>" as HTML
        let title = "Edit \(item.name ?? item.file)"
        guard let edit = YAMLEdit(CampaignSaving.text(of: bytes)) else {
            let content: HTML =
                "\(Words.head("\(title)"))<p class=\"stop\">This file cannot be read, so it cannot be shown as a form. \(source)</p>"
            return Page(title: title, place: .campaigns, content: content)
        }
        let apps = try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
        let tried = trial.edit ?? edit
        let findings = CampaignSaving.draft(tried.text, file: item.path, try site.project(), at: visit.now).findings
        let (own, others) = sorted(findings, tried)
        let shown = fields.map { field(of: $0, edit, apps, trial, own[$0.name] ?? []) }
        let found: HTML = others.isEmpty ? "" : "<ul class=\"findings\">\(others.map(CampaignsPage.finding))</ul>"
        let anyway: HTML = trial.edit == nil ? "" : " <button name=\"anyway\" value=\"1\">Save with its mistakes</button>"
        let content: HTML = """
            \(Words.head("\(title)", "<p><code dir=\"auto\">\(item.file)</code></p>"))
            \(trial.notice)
            \(found)
            <form class="panel editor" method="post" action="/campaign/form\(FormFields.query([("file", item.file)]))">
            \(Form.token(visit))<input type="hidden" name="\(OrderForm.digest)" value="\(ShownFile.digest(of: bytes))">
            \(shown)
            <p><button class="main">Save</button>\(anyway)</p>
            </form>
            <p class="note">What is not here, such as languages, variants and pace, is in the source; saving leaves it alone. \(source) · \
            <a href="\(Words.path(ofCampaign: item.file))">Back without saving</a></p>
            """
        return Page(status: trial.status, title: title, place: .campaigns, content: content)
    }

    /// Findings by the fields whose lines they are about, and those about something else.
    private static func sorted(_ findings: [Diagnostic], _ edit: YAMLEdit) -> (own: [String: [Diagnostic]], others: [Diagnostic]) {
        var own: [String: [Diagnostic]] = [:]
        var others: [Diagnostic] = []
        let lines = fields.compactMap { field in edit.lines(at: field.path).map { (field.name, $0) } }
        for finding in findings {
            // Of several fields in one line, nobody can say which.
            let near = lines.filter { $0.1.contains(finding.position?.line ?? 0) }
            if near.count == 1 { own[near[0].0, default: []].append(finding) } else { others.append(finding) }
        }
        return (own, others)
    }

    private static func field(
        of field: Field, _ edit: YAMLEdit, _ apps: [String], _ trial: Trial, _ findings: [Diagnostic]
    ) -> HTML {
        let value: YAMLEdit.Value?
        do throws(Mistake) { value = try edit.value(at: field.path) } catch {
            return
                "<p class=\"field\"><b>\(field.label)</b><br><span class=\"note\">More than this form can show; it is in the source.</span></p>"
        }
        let present = Self.text(of: value)
        let typed = trial.typed[field.name].flatMap { $0 == trial.typed[shown(field)] ? nil : $0 }
        let text = typed ?? present
        let found: [HTML] = findings.map { finding in
            "<span class=\"\(finding.severity == .error ? "stop" : "note")\" role=\"alert\">\(Words.text(finding, withPlace: false))</span>"
        }
        let refused: [HTML] =
            trial.mistakes[field.name].map {
                ["<span class=\"stop\" role=\"alert\">\(Words.text(Diagnostic($0), withPlace: false))</span>"]
            } ?? []
        let mistake = HTML(joined: refused + found)
        let hint: HTML = field.hint.isEmpty ? "" : "<span class=\"note\" id=\"\(field.name)-hint\">\(field.hint)</span>"
        let described: HTML = field.hint.isEmpty ? "" : " aria-describedby=\"\(field.name)-hint\""
        let required: HTML = field.isRequired ? " required" : ""
        let input: HTML
        switch field.kind {
        case .line:
            input =
                "<input id=\"\(field.name)\" name=\"\(field.name)\" value=\"\(text)\" dir=\"auto\" autocomplete=\"off\"\(described)\(required)>"
        case .lines, .list:
            let rows = max(2, min(8, text.split(separator: "\n", omittingEmptySubsequences: false).count + 1))
            input = "<textarea id=\"\(field.name)\" name=\"\(field.name)\" rows=\"\(rows)\" dir=\"auto\"\(described)>\n\(text)</textarea>"
        case .choice:
            let options = field.path == ["app"] ? (apps.contains(text) ? apps : [text] + apps) : ["", "true"]
            let items: [HTML] = options.map { option in
                let words = field.path == ["app"] ? option : option.isEmpty ? "No" : "Yes, every device of the export"
                return "<option value=\"\(option)\"\(option == text ? " selected" : "" as HTML)>\(words)</option>"
            }
            input = "<select id=\"\(field.name)\" name=\"\(field.name)\"\(described)>\(items)</select>"
        }
        let was: HTML = "<input type=\"hidden\" name=\"\(shown(field))\" value=\"\(present)\">"
        return "\(was)<p class=\"field\"><label for=\"\(field.name)\">\(field.label)</label>\(input)\(hint)\(mistake)</p>"
    }

    // MARK: - Values

    /// A value as its field holds it.
    static func text(of value: YAMLEdit.Value?) -> String {
        switch value {
        case nil: ""
        case .text(let text): text
        case .list(let texts): texts.joined(separator: "\n")
        case .truth(let truth): truth ? "true" : ""
        }
    }

    /// What a field asks for; nil for nothing.
    static func value(of text: String, _ field: Field, like present: YAMLEdit.Value?) -> YAMLEdit.Value? {
        switch field.kind {
        case .line: return trimmed(text).isEmpty ? nil : .text(trimmed(text))
        case .lines: return trimmed(text).isEmpty ? nil : .text(trimmed(text))
        case .choice where field.path == ["app"]: return text.isEmpty ? nil : .text(text)
        case .choice: return text == "true" ? .truth(true) : nil
        case .list:
            // Nobody's tag has a comma that is written between others.
            let items = text.split { $0 == "\n" || field.path == ["audience", "tags"] && $0 == "," }.map { trimmed(String($0)) }.filter {
                !$0.isEmpty
            }
            if items.isEmpty { return nil }
            // One name may be written without a list.
            if case .text = present, items.count == 1 { return .text(items[0]) }
            return .list(items)
        }
    }

    /// Without white space around it.
    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// The source with what a form asks for: only values that differ from what stands there are written.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        var mistakes: [String: Mistake] = [:]
        for field in fields {
            // A field that the page did not have stays as it is.
            guard let typed = form[field.name], typed != form[shown(field)] else { continue }
            do throws(Mistake) {
                let present = try edit.value(at: field.path)
                guard typed != text(of: present) else { continue }
                try edit.set(value(of: typed, field, like: present), at: field.path)
            } catch { mistakes[field.name] = error }
        }
        return mistakes
    }

    /// The name of the hidden field with what the page showed: what nobody touched is not written, whatever somebody else made of it meanwhile.
    private static func shown(_ field: Field) -> String { "shown." + field.name }

    // MARK: - Saving

    private static func save(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try read(item)
        let base = visit.form[OrderForm.digest] ?? ""
        var trial = Trial(typed: visit.form)
        guard var edit = YAMLEdit(CampaignSaving.text(of: bytes)) else { throw Refusal.outdated("The file cannot be read any more.") }
        func again(_ notice: HTML, _ status: HTTPResponse.Status) throws -> Answer {
            trial.notice = notice
            trial.status = status
            return .page(try page(item, bytes, visit, site, trial))
        }
        let changed: HTML = """
            <p class="stop" role="alert">Somebody else saved this file while you were writing, so nothing was saved. Below are your values; look at \
            <a href="/campaign/history\(FormFields.query([("file", item.file)]))">what changed</a> in another window, and save again if yours are still right. \
            Only the fields of this form are changed.</p>
            """
        guard base == ShownFile.digest(of: bytes) else { return try again(changed, .conflict) }
        trial.mistakes = apply(visit.form, to: &edit)
        guard trial.mistakes.isEmpty else {
            return try again("<p class=\"stop\" role=\"alert\">Not saved: see below.</p>", .unprocessableContent)
        }
        let draft = CampaignSaving.draft(edit.text, file: item.path, try site.project(), at: visit.now)
        if draft.campaign == nil, visit.form["anyway"] == nil {
            trial.edit = edit
            return try again(
                "<p class=\"stop\" role=\"alert\">Not saved: there are mistakes, which stand at their fields. Nothing is sent from a file with mistakes.</p>",
                .unprocessableContent)
        }
        switch try site.saving.save(edit.text, as: item.file, base: base, visit, site) {
        case .saved: return .redirect(Words.path(ofCampaign: item.file) + "&saved=1")
        case .conflict: return try again(changed, .conflict)
        case .refused(let objections): return try again(CampaignEditor.refusal(objections), .unprocessableContent)
        }
    }
}
