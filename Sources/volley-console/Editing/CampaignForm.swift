import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Reports

/// What most people change in a campaign, as a form: each field is a value of the source, and saving changes only those that differ.
enum CampaignForm {
    /// A field and the key that it sets.
    struct Field: Sendable {
        enum Kind: Sendable { case line, lines, list, choice, tags, moment, rule, zone }

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
            path: TagsControl.path, label: "Tags", kind: .tags, hint: "Devices with at least one of the checked tags get it."),
        Field(path: ["audience", "everyone"], label: "Everyone", kind: .choice, hint: "Instead of tags."),
        Field(path: ["audience", "devices"], label: "Device exports", kind: .list, hint: "One file in a line; blank for that of the app."),
        Field(
            path: ["schedule", "at"], label: "Sent at", kind: .moment,
            hint: "On the clock of the zone below. Blank to send it by hand; if it is repeated, this is the first time."),
        Field(path: ["schedule", "repeat"], label: "Repeated", kind: .rule),
        Field(
            path: ["schedule", "timezone"], label: "Time zone", kind: .zone,
            hint: "Whose clock counts: Europe/Berlin, or recipient for each device’s own. Typing a part of the name finds it."),
        Field(
            path: ["schedule", "fallback_timezone"], label: "Time zone of devices whose own is not known", kind: .zone,
            hint: "Only with recipient above."),
    ]

    static var routes: [Route] {
        [
            Route(method: .get, path: "/campaign/form", right: .right(.edit), subject: .campaign, answer: show),
            Route(
                method: .post, path: "/campaign/form", right: .right(.edit), subject: .campaign, changes: true,
                bodyLimit: Route.campaignBodyLimit, answer: save),
            KnownTags.route,
        ]
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        return .page(try page(item, read(item), visit, site))
    }

    static func read(_ item: CampaignCache.Item) throws -> [UInt8] {
        try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
    }

    // MARK: - The page

    /// What a person typed before, and why it was not saved.
    struct RejectedInput {
        var typed: [String: String] = [:]
        var mistakes: [String: Mistake] = [:]
        /// The source as it would be.
        var edit: YAMLEdit?
        var notice: HTML = ""
        /// Further buttons next to Save.
        var buttons: HTML = ""
        var status = HTTPResponse.Status.ok
    }

    static func page(_ item: CampaignCache.Item, _ bytes: [UInt8], _ visit: Visit, _ site: Site, _ trial: RejectedInput = RejectedInput())
        throws -> Page
    {
        let source = "<a href=\"/campaign/edit\(FormFields.query([("file", item.file)]))\">Edit the source</a>" as HTML
        let title = "Edit \(item.name ?? item.file)"
        guard let edit = YAMLEdit(CampaignSaving.text(of: bytes)) else {
            let content: HTML =
                "\(Words.head("\(title)"))<p class=\"stop\">This file cannot be read, so it cannot be shown as a form. \(source)</p>"
            return Page(title: title, place: .campaigns, content: content)
        }
        let tried = trial.edit ?? edit
        let (own, others) = sorted(try CampaignFindings(file: item.path, text: tried.text, visit, site).all, tried, item.path)
        let scene = try ControlContext(item, edit, visit, site)
        let shown = fields.map { field(of: $0, edit, trial, own[$0.name] ?? [], scene) }
        let found: HTML = others.isEmpty ? "" : "<ul class=\"findings\">\(others.map(CampaignsPage.finding))</ul>"
        let anyway: HTML = trial.edit == nil ? "" : " <button name=\"anyway\" value=\"1\">Save with its mistakes</button>"
        let content: HTML = """
            \(Words.head("\(title)", "<p><code dir=\"auto\">\(item.file)</code></p>"))
            \(trial.notice)
            \(found)
            <form class="panel editor" method="post" action="\(scene.address)">
            \(Form.token(visit))<input type="hidden" name="\(OrderForm.digest)" value="\(ShownFile.digest(of: bytes))">
            \(shown)
            \(NextTimes.html(item, visit, site))
            <p><button class="main">Save</button>\(anyway)\(trial.buttons)</p>
            </form>
            <p class="note">What is not here, such as languages, variants and pace, is in the source; saving leaves it alone. \(source) · \
            <a href="\(Words.path(ofCampaign: item.file))">Back without saving</a></p>
            <p class="note">\(CampaignFindings.scope)</p>
            """
        return Page(status: trial.status, title: title, place: .campaigns, content: content)
    }

    /// What controls need in addition to the value.
    private struct ControlContext {
        var apps: [String]
        var tags: KnownTags
        var now: Timestamp
        /// Of the form, and of what is filled into it later.
        var address: String, live: String

        init(_ item: CampaignCache.Item, _ edit: YAMLEdit, _ visit: Visit, _ site: Site) throws {
            apps = try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
            tags = KnownTags.of(item, edit, visit, site)
            now = visit.now
            let query = FormFields.query([("file", item.file)])
            (address, live) = ("/campaign/form" + query, "/campaign/form/live.json" + query)
        }
    }

    /// Findings by the fields whose lines they are about, and those about something else.
    private static func sorted(_ findings: [Diagnostic], _ edit: YAMLEdit, _ file: String) -> (
        own: [String: [Diagnostic]], others: [Diagnostic]
    ) {
        var own: [String: [Diagnostic]] = [:]
        var others: [Diagnostic] = []
        let lines = fields.compactMap { field in edit.lines(at: field.path).map { (field: field, lines: $0) } }
        for finding in findings {
            var near: [Field] = []
            if let place = finding.position, place.file == file {
                near = lines.filter { $0.lines.contains(place.line) }.map(\.field)
                if near.count > 1 { near = near.filter { edit.holds(line: place.line, column: place.column, at: $0.path) } }
            }
            if near.count == 1 { own[near[0].name, default: []].append(finding) } else { others.append(finding) }
        }
        return (own, others)
    }

    private static func field(
        of field: Field, _ edit: YAMLEdit, _ trial: RejectedInput, _ findings: [Diagnostic], _ scene: ControlContext
    ) -> HTML {
        let held: YAMLEdit.Value?
        do throws(Mistake) { held = try edit.value(at: field.path) } catch {
            return
                "<p class=\"field\"><b>\(field.label)</b><br><span class=\"note\">More than this form can show; it is in the source.</span></p>"
        }
        var value = ShownValue(field: field, present: Self.text(of: held), text: Self.text(of: held))
        let written: String?, isChanged: Bool
        do throws(Mistake) {
            written = try text(of: field, in: trial.typed)
            isChanged = written != nil && written != trial.typed[shown(field)]
        } catch { (written, isChanged) = (nil, true) }
        if isChanged { (value.text, value.typed) = (written ?? value.text, trial.typed) }
        value.mistake = mistake(trial.mistakes[field.name], findings)
        return "<input type=\"hidden\" name=\"\(shown(field))\" value=\"\(value.present)\">\(control(value, scene))"
    }

    /// Why a value was not written, and what is wrong with the one that the source holds.
    private static func mistake(_ refused: Mistake?, _ findings: [Diagnostic]) -> HTML {
        let found: [HTML] = findings.map { finding in
            "<span class=\"\(finding.severity == .error ? "stop" : "note")\" role=\"alert\">\(Words.text(finding, withPlace: false))</span>"
        }
        let own: [HTML] =
            refused.map {
                ["<span class=\"stop\" role=\"alert\">\(Words.text(Diagnostic($0), withPlace: false))</span>"]
            } ?? []
        return HTML(joined: own + found)
    }

    private static func control(_ value: ShownValue, _ scene: ControlContext) -> HTML {
        switch value.field.kind {
        case .line: return value.line()
        case .moment: return MomentControl.html(value)
        case .rule: return RepeatControl.html(value)
        case .zone: return ZoneControl.html(value, mayBeRecipient: value.field.path.last == "timezone", at: scene.now)
        case .tags: return TagsControl.html(value, scene.tags, form: (scene.address, scene.live))
        case .lines, .list:
            let rows = max(2, min(8, value.text.split(separator: "\n", omittingEmptySubsequences: false).count + 1))
            return plain(
                value,
                "<textarea id=\"\(value.name)\" name=\"\(value.name)\" rows=\"\(rows)\" dir=\"auto\"\(value.described)>\n\(value.text)</textarea>"
            )
        case .choice:
            let isApp = value.field.path == ["app"]
            let options = isApp ? (scene.apps.contains(value.text) ? scene.apps : [value.text] + scene.apps) : ["", "true"]
            let items: [HTML] = options.map { option in
                let words = isApp ? option : option.isEmpty ? "No" : "Yes, every device of the export"
                return "<option value=\"\(option)\"\(option == value.text ? " selected" : "" as HTML)>\(words)</option>"
            }
            return plain(value, "<select id=\"\(value.name)\" name=\"\(value.name)\"\(value.described)>\(items)</select>")
        }
    }

    private static func plain(_ value: ShownValue, _ input: HTML) -> HTML {
        "<p class=\"field\"><label for=\"\(value.name)\">\(value.field.label)</label>\(input)\(value.hint)\(value.mistake)</p>"
    }
}
