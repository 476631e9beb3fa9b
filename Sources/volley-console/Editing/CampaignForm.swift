import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Reports

/// What most people change in a campaign, as a form: each field is a value of the source, and
/// saving changes only those that differ.
enum CampaignForm {
    /// A field and the key that it sets.
    struct Field: Sendable {
        enum Kind: Sendable {
            case line, lines, list, choice, tags, moment, rule, zone
            /// A number, without quotes.
            case number
            /// A box that is checked or not.
            case box
            /// Several values: no control of its own, but mistakes are shown there.
            case group
            /// One of several values; the first is blank for none.
            case oneOf([(value: String, words: String)])
            /// A value with a notation of its own, in parts.
            case notation(Notation)
        }

        var path: [String]
        var label: String
        var kind: Kind
        /// Below the field.
        var hint = ""
        var isRequired = false
        /// Whether the source may say the same in another form, for which this one is blank.
        var isAlternative = false

        var isOfTags: Bool { if case .tags = kind { true } else { false } }

        var name: String { path.joined(separator: ".") }
    }

    /// In the order in which people think.
    static let sections: [any ComposerSection.Type] = [
        WhoSection.self, WhatSection.self, WhenSection.self, HowSection.self,
    ]

    /// What the campaign is called, above the sections.
    static let head: [Field] = [
        Field(
            path: ["name"], label: "Name", kind: .line, hint: "Small letters, digits and hyphens: spring-sale",
            isRequired: true),
        Field(path: ["app"], label: "App", kind: .choice, isRequired: true),
        Field(
            path: ["description"], label: "What it is for", kind: .lines, hint: "For colleagues; no device shows it."),
    ]

    /// All values that the form shows of a source.
    static func fields(in edit: YAMLEdit) -> [Field] { head + sections.flatMap { $0.fields(in: edit) } }

    static var routes: [Route] {
        [
            Route(method: .get, path: "/campaign/form", right: .right(.edit), subject: .campaign, answer: show),
            Route(
                method: .post, path: "/campaign/form", right: .right(.edit), subject: .campaign, changes: true,
                bodyLimit: Route.campaignBodyLimit, answer: save),
            KnownTags.route, PhoneControl.route,
        ]
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try read(item)
        guard let draft = try DraftPages.chosen(.form, file: item.file, visit, site) else {
            return .page(try page(item, bytes, visit, site))
        }
        guard var edit = YAMLEdit(CampaignSaving.text(of: bytes)) else {
            return .redirect(DraftPages.path + FormFields.query([("id", String(draft.id))]))
        }
        var trial = RejectedInput(typed: draft.fields)
        if draft.base != ShownFile.digest(of: bytes) {
            trial = try merged((draft.fields, draft.base), item, edit, visit, site)
        }
        trial.mistakes = apply(trial.typed, to: &edit)
        trial.notice = "\(DraftPages.notice(draft, visit))\(trial.notice)"
        return .page(try page(item, bytes, visit, site, trial))
    }

    static func read(_ item: CampaignCache.Item) throws -> [UInt8] {
        try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
    }

    // MARK: - The page

    /// What a person typed before, and why it was not saved.
    struct RejectedInput {
        var typed: [String: String] = [:]
        var mistakes: [String: Mistake] = [:]
        /// What others saved where this person wrote something else, by the names of fields.
        var others: [String: HTML] = [:]
        /// The source as it would be.
        var edit: YAMLEdit?
        /// The source as the fields have it, where only the count of it was wanted.
        var counted: YAMLEdit?
        var notice: HTML = ""
        var status = HTTPResponse.Status.ok
    }

    static func page(
        _ item: CampaignCache.Item, _ bytes: [UInt8], _ visit: Visit, _ site: Site,
        _ trial: RejectedInput = RejectedInput()
    )
        throws -> Page
    {
        let source = "<a href=\"/campaign/edit\(FormFields.query([("file", item.file)]))\">Edit the source</a>" as HTML
        let draft = YAMLEdit(CampaignSaving.text(of: bytes))
        let name = try? draft?.value(at: ["name"])
        let called = if case .text(let name)? = name, !name.isEmpty { name } else { item.file }
        let title = "Edit \(called)"
        // A file that is not complete has no name yet, and the heading says it.
        let about: HTML =
            item.file == called || item.file == called + ".yaml" ? "" : "<p>\(Words.file(of: item))</p>"
        guard let edit = draft else {
            let content: HTML =
                "\(Words.head("\(title)"))<p class=\"stop\">This file cannot be read, so it cannot be shown as a form. \(source)</p>"
            return Page(title: title, place: .campaigns, content: content, help: .composer)
        }
        let context = try ComposerContext(item, edit, trial, visit, site)
        let anyway: HTML =
            trial.edit == nil ? "" : " <button name=\"anyway\" value=\"1\">Save with its mistakes</button>"
        let form = HTML(joined: head.map(context.control) + sections.map { section($0, context) })
        // What a person typed is not what the file has.
        let shown = trial.typed.isEmpty ? FormControls(form.markup) : try controls(item, edit, visit, site)
        let content: HTML = """
            \(Words.head("\(title)", about))
            \(trial.notice)
            \(ProblemSummary.html(context, source: source))
            <div class="composer">
            <form class="panel editor" id="composer" method="post" action="\(context.address)">
            \(Form.token(visit))<input type="hidden" name="\(OrderForm.digest)" value="\(ShownFile.digest(of: bytes))">\
            <input type="hidden" name="\(FormMerge.shown)" value="\(FormMerge.written(shown))">
            \(form)
            \(RestOfCampaign.html(edit, source))
            <p><button class="main">Save</button>\(anyway)
            \(DraftPages.controls(.form, file: item.file, visit))</p>
            </form>
            \(ComposerSide.html(context))
            </div>
            <p class="note">\(source) · <a href="\(Words.path(ofCampaign: item.file))">Back without saving</a></p>
            <p class="note">\(CampaignFindings.scope)</p>
            """
        return Page(status: trial.status, title: title, place: .campaigns, content: content, help: .composer)
    }

    static func section(_ section: any ComposerSection.Type, _ context: ComposerContext) -> HTML {
        let name = section.title.lowercased(), heading: HTML = "<h2 id=\"\(name)\">\(section.title)</h2>"
        let content = section.html(context)
        let hasMistake = section.fields(in: context.edit).contains { !context.mistake(of: $0).markup.isEmpty }
        return section.isFolded
            ? """
            <section class="step" aria-labelledby="\(name)"><details\(hasMistake ? " open" : "" as HTML)><summary>\(heading)</summary>\(content)</details></section>
            """
            : "<section class=\"step\" aria-labelledby=\"\(name)\">\(heading)\(content)</section>"
    }
}
