import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Runs

/// What a new campaign begins with: a purpose, another campaign or a finished run. Each leads into
/// the form; the source is written only on request. The file has no times, so nothing of it is
/// planned by itself.
enum NewCampaign {
    static var routes: [Route] {
        [
            Route(method: .get, path: path, right: .right(.edit), answer: show),
            Route(
                method: .post, path: path, right: .right(.edit), changes: true, bodyLimit: Route.campaignBodyLimit,
                answer: make),
        ]
    }

    private static let path = "/campaigns/new"
    /// The most campaigns and runs that are offered.
    private static let most = 12

    // MARK: - What it begins with

    /// Where the text of a new campaign comes from.
    private enum Start {
        case purpose(CampaignSample)
        case campaign(CampaignCache.Item)
        case run(RunSummary)

        /// - Parameter form: of a page that was sent; blank for one that is opened.
        init(_ form: [String: String], _ visit: Visit, _ site: Site) throws {
            func named(_ key: String) -> String? { (form[key] ?? visit.query[key]).flatMap { $0.isEmpty ? nil : $0 } }
            if let id = named("run") {
                guard let run = try site.archive.summary(of: id), visit.may(.readReports, app: run.app) else {
                    throw Refusal.notFound
                }
                guard visit.may(.edit, app: run.app) else { throw Refusal.notAllowed }
                self = .run(run)
            } else if let file = named("file") {
                guard
                    let item = try site.campaigns.items(project: site.project(), now: visit.now).first(where: {
                        $0.file == file
                    })
                else {
                    throw Refusal.notFound
                }
                guard visit.may(.edit, app: item.app) else { throw Refusal.notAllowed }
                self = .campaign(item)
            } else {
                self = .purpose(form["start"].flatMap(CampaignSample.init) ?? .blank)
            }
        }

        /// The text of the new campaign, apart from its name; and the file and the frozen text that
        /// it is a copy of.
        func text(app: String, _ site: Site) throws -> (text: String, copyOf: String?, frozen: String?) {
            switch self {
            case .purpose(let sample): return (sample.text(app: app), nil, nil)
            case .campaign(let item):
                let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
                return (CampaignSaving.text(of: bytes), item.file, nil)
            case .run(let summary):
                let run = try site.catalog.open(summary.id)
                defer { run.close() }
                let source = run.plan.campaignSource
                return (source, run.plan.campaignFile.split(separator: "/").last.map(String.init), source)
            }
        }

        /// The name that the page offers.
        var name: String {
            switch self {
            case .purpose: ""
            case .campaign(let item): item.name.map { $0.prefix(59) + "-copy" } ?? ""
            case .run(let run): run.campaign.prefix(58) + "-again"
            }
        }
    }

    // MARK: - Pages

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        if let draft = try DraftPages.chosen(.new, file: nil, visit, site) {
            let notice = DraftPages.notice(draft, visit)
            guard let text = draft.fields["text"] else {
                return .page(try page(draft.fields, notice: notice, visit, site))
            }
            return .page(sourcePage(.init(file: "", text: text, base: "", notice: notice), visit))
        }
        guard visit.query["source"] == nil else {
            let app = try apps(visit, site).first ?? "shop"
            return .page(sourcePage(.init(file: "", text: CampaignSample.source(app: app), base: ""), visit))
        }
        return .page(try page([:], visit, site))
    }

    private static func apps(_ visit: Visit, _ site: Site) throws -> [String] {
        try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
    }

    /// - Parameters:
    ///   - form: as it was filled in.
    ///   - notice: above the form.
    private static func page(
        _ form: [String: String], notice: HTML = "", status: HTTPResponse.Status = .ok, _ visit: Visit, _ site: Site
    ) throws -> Page {
        let start = try Start(form, visit, site)
        let nameField = Form.text(
            "Name", name: "name", value: form["name"] ?? start.name,
            attributes: " required autocomplete=\"off\" aria-describedby=\"name-hint\"")
        let (title, fields): (HTML, HTML) =
            switch start {
            case .purpose(let sample): ("New campaign", "\(try appField(form, visit, site))\(purposes(sample))")
            case .campaign(let item):
                (
                    "Duplicate \(item.name ?? item.file)",
                    """
                    <input type="hidden" name="file" value="\(item.file)">
                    <p class="note">Texts, audience and settings are those of <b dir="auto">\(item.name ?? item.file)</b>; its times are left out.</p>
                    """
                )
            case .run(let run):
                (
                    "Start from \(run.campaign)",
                    """
                    <input type="hidden" name="run" value="\(run.id)">
                    <p class="note">Texts, audience and settings are those that the run of \(Words.moment(run.startedAt ?? run.plannedAt)) was planned with; \
                    its times are left out.</p>
                    """
                )
            }
        let isPurpose = if case .purpose = start { true } else { false }
        let content: HTML = """
            \(Words.head(title))
            \(notice)
            <form class="panel editor" method="post" action="\(path)">\(Form.token(visit))\(DraftPages.mark(visit))
            \(nameField)<p class="note" id="name-hint">Small letters, digits and hyphens: spring-sale</p>
            \(fields)
            <p><button class="main">Go on</button></p>
            <p class="note">The form follows. Nothing is sent, and the campaign has no times, until you say so.</p>
            </form>
            \(isPurpose ? try others(visit, site) : "<p class=\"note\"><a href=\"\(path)\">Start from something else</a></p>")
            """
        return Page(status: status, title: "New campaign", place: .campaigns, content: content)
    }

    private static func appField(_ form: [String: String], _ visit: Visit, _ site: Site) throws -> HTML {
        let options: [HTML] = try apps(visit, site).map {
            "<option\($0 == form["app"] ? " selected" : "" as HTML)>\($0)</option>"
        }
        return
            "<p class=\"field\"><label for=\"app\">App</label><select id=\"app\" name=\"app\">\(options)</select></p>"
    }

    private static func purposes(_ chosen: CampaignSample) -> HTML {
        let choices: [HTML] = CampaignSample.allCases.map { sample in
            """
            <label class="box"><input type="radio" name="start" value="\(sample.rawValue)"\(sample == chosen ? " checked" : "" as HTML)>\
            <span>\(sample.words.name) <span class="note">\(sample.words.about)</span></span></label>
            """
        }
        return "<fieldset class=\"controls field\"><legend>Start from</legend>\(choices)</fieldset>"
    }

    /// Campaigns and runs to start from; blank parts are left out.
    private static func others(_ visit: Visit, _ site: Site) throws -> HTML {
        let items = try site.campaigns.items(project: site.project(), now: visit.now).filter {
            visit.may(.edit, app: $0.app)
        }
        let campaigns: [HTML] = items.prefix(most).map { item in
            "<li><a href=\"\(path)\(FormFields.query([("file", item.file)]))\" dir=\"auto\">\(item.name ?? item.file)</a></li>"
        }
        let runs = try site.archive.listing().runs.filter { run in
            run.state == .finished && !run.isTest && run.retryOf == nil && visit.may(.readReports, app: run.app)
                && visit.may(.edit, app: run.app)
        }
        let finished: [HTML] = runs.prefix(most).map { run in
            """
            <li><a href="\(path)\(FormFields.query([("run", run.id)]))" dir="auto">\(run.campaign)</a> \
            <span class="note">sent \(Words.moment(run.startedAt ?? run.plannedAt)) to \(TextFormat.devices(run.audience))</span></li>
            """
        }
        return """
            \(campaigns.isEmpty ? "" : Words.panel("Or from another campaign", id: "campaigns", "<ul class=\"list\">\(campaigns)</ul>"))
            \(finished.isEmpty ? "" : Words.panel("Or from a finished run", id: "runs", "<ul class=\"list\">\(finished)</ul>"))
            <p class="note"><a href="\(path)?source=1">Write the source instead</a></p>
            """
    }

    private static func sourcePage(_ sheet: CampaignEditor.EditorState, _ visit: Visit) -> Page {
        CampaignEditor.page(
            sheet, visit, title: "New campaign",
            action: path + (visit.query["file"].map { FormFields.query([("file", $0)]) } ?? ""),
            fields:
                "<p class=\"note\">The file is called as the campaign: <code>spring-sale.yaml</code> for <code>name: spring-sale</code>.</p>"
        )
    }

    // MARK: - Making it

    private static func make(_ visit: Visit, _ site: Site) throws -> Answer {
        try visit.form["text"] == nil ? begin(visit, site) : makeFromSource(visit, site)
    }

    /// Makes the file that the form goes on with.
    private static func begin(_ visit: Visit, _ site: Site) throws -> Answer {
        func again(_ objections: [Diagnostic]) throws -> Answer {
            let words: [HTML] = objections.map { "<p>\(Words.text($0, withPlace: false))</p>" }
            let notice: HTML = "<div class=\"stop\" role=\"alert\"><p><b>Not made yet.</b></p>\(words)</div>"
            return .page(try page(visit.form, notice: notice, status: .unprocessableContent, visit, site))
        }
        let name = (visit.form["name"] ?? "").trimming
        if let mistake = Self.mistake(inName: name) { return try again([mistake]) }
        let app = visit.form["app"] ?? ""
        let (text, original, frozen) = try Start(visit.form, visit, site).text(app: app, site)
        guard var edit = YAMLEdit(text) else {
            return try again([
                Diagnostic("this campaign cannot be read, so it cannot be copied", remedy: "Start from another one.")
            ])
        }
        // Two campaigns with the same name and schedule would block each other.
        do throws(Mistake) {
            try edit.set(.text(name), at: ["name"])
            // Quiet hours, and the zone that they are in, count for what is sent by hand, too.
            let timing = edit.keys(at: ["schedule"]), times = ["at", "repeat", "late"].filter(timing.contains)
            for path in timing.contains("quiet_hours") ? times.map({ ["schedule", $0] }) : [["schedule"]] {
                try edit.set(nil, at: path)
            }
        } catch { return try again([Diagnostic(error)]) }
        let file = name + ".yaml"
        switch try site.saving.save(edit.text, as: file, base: nil, copyOf: original, frozen: frozen, visit, site) {
        case .saved: return .redirect("/campaign/form" + FormFields.query([("file", file)]))
        case .refused(let objections): return try again(objections)
        case .conflict: return try again([taken(file)])
        }
    }

    private static func taken(_ file: String) -> Diagnostic {
        Diagnostic("there is a campaign file \(file) already", remedy: "Give this campaign another name.")
    }

    /// Why a campaign cannot have this name; nil if it can.
    private static func mistake(inName name: String) -> Diagnostic? {
        if Campaign.isName(name), ScheduleFiles.isCampaign(name + ".yaml"), !name.hasPrefix("-") { return nil }
        let letters = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "-" }.joined()
        let words = letters.split(separator: "-").joined(separator: "-").prefix(64)
        let isUsable = Campaign.isName(String(words)) && ScheduleFiles.isCampaign(words + ".yaml")
        return Diagnostic(
            name.isEmpty
                ? "the campaign has no name"
                : "a campaign cannot be called '\(TextFormat.inLine(String(name.prefix(80))))'",
            remedy: isUsable
                ? "Names have small letters, digits and hyphens: write \(words), for example."
                : "Write one with small letters, digits and hyphens, for example spring-sale.")
    }

    private static func makeFromSource(_ visit: Visit, _ site: Site) throws -> Answer {
        var sheet = CampaignEditor.EditorState(file: "", text: visit.form["text"] ?? "", base: "")
        let text = String(decoding: CampaignSaving.bytes(of: sheet.text, like: nil), as: UTF8.self)
        let edit = YAMLEdit(text)
        let name: String? = if case .text(let name)? = try? edit?.value(at: ["name"]) { name } else { nil }
        sheet = try CampaignEditor.checked(sheet, visit, site)
        guard visit.form["check"] == nil else { return .page(sourcePage(sheet, visit)) }
        func again(_ objections: [Diagnostic]) -> Answer {
            sheet.notice = CampaignEditor.refusal(objections)
            sheet.status = .unprocessableContent
            return .page(sourcePage(sheet, visit))
        }
        guard let name, Campaign.isName(name), ScheduleFiles.isCampaign(name + ".yaml") else {
            return again([
                Diagnostic(
                    "the campaign has no name that a file could have",
                    remedy:
                        "Write a line `name: …` with small letters, digits and hyphens, for example `name: spring-sale`."
                )
            ])
        }
        let file = name + ".yaml"
        guard !file.hasPrefix("-") else {
            return again([
                Diagnostic(
                    "the file \(file) of this campaign would be taken for an option by commands",
                    remedy: "Begin its name with a letter or a digit, for example `name: spring-sale`.")
            ])
        }
        switch try site.saving.save(text, as: file, base: nil, copyOf: visit.query["file"], visit, site) {
        case .saved: return .redirect(Words.path(ofCampaign: file) + "&saved=1")
        case .refused(let objections): return again(objections)
        case .conflict: return again([taken(file)])
        }
    }
}

/// Texts to start from, by purpose. They name no audience: that is chosen in the form.
enum CampaignSample: String, CaseIterable, Sendable {
    case blank, sale, reminder
    case winBack = "win-back"
    case serviceNotice = "service-notice"
    case silentRefresh = "silent-refresh"

    /// For the list.
    var words: (name: HTML, about: HTML) {
        switch self {
        case .blank: ("Blank", "Nothing is filled in.")
        case .sale: ("A sale", "An offer that ends after two days.")
        case .reminder: ("A reminder", "A few words, which are of no use the next day.")
        case .winBack: ("A win-back", "To devices whose app was not opened for 60 days.")
        case .serviceNotice: ("A service notice", "Maintenance or a change, without waking the phone.")
        case .silentRefresh: ("A silent refresh", "No text: the app loads new data in the background.")
        }
    }

    /// The campaign, whose name is filled in later.
    func text(app: String) -> String {
        let begin = "name: x\napp: \(app)\n"
        switch self {
        case .blank: return begin + "audience: {}\ncontent: {}\n"
        case .sale:
            return begin + """
                description: An offer
                audience: {}
                content:
                  title: 20 % off until Sunday
                  body: Everything you put into your basket until Sunday evening.
                  sound: default
                delivery:
                  expires: 2d

                """
        case .reminder:
            return begin + """
                description: A reminder
                audience: {}
                content:
                  title: Don't forget
                  body: There is one day left.
                  sound: default
                delivery:
                  expires: 12h

                """
        case .winBack:
            return begin + """
                description: To people that have not been here for a while
                audience:
                  where:
                    last_active: older than 60 days
                content:
                  title: Good to see you again
                  body: A lot is new since your last visit.
                delivery:
                  expires: 2d

                """
        case .serviceNotice:
            return begin + """
                description: A notice about the service
                audience: {}
                content:
                  title: Maintenance tonight
                  body: We are back in the morning. Nothing of yours is lost.
                delivery:
                  priority: normal
                  expires: 6h

                """
        case .silentRefresh:
            return begin + """
                description: Apps load new data
                audience: {}
                content:
                  silent: true
                  data:
                    refresh: content
                delivery:
                  expires: 1h

                """
        }
    }

    /// What the editor of the source begins with.
    static func source(app: String) -> String {
        """
        name: new-campaign
        app: \(app)
        audience:
          tags: [vip]
        content:
          title: "A title"
          body: "A sentence or two"

        """
    }
}
