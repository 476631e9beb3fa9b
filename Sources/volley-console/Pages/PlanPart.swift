import Accounts
import Automation
import Base
import Planning
import Reports
import Runs
import Workspace

/// A plan on the page of its run, as it is frozen: what an approver must see.
enum PlanPart {
    /// What the plan holds, its writers, and the differences from what was sent last.
    static func html(_ summary: RunSummary, _ site: Site) throws -> HTML {
        let run = try site.catalog.open(summary.id)
        defer { run.close() }
        let plan = run.plan
        let earlier = try site.archive.begun(before: summary)
        let writers = Result { try site.rights.writers(of: run, since: earlier) }
        let counted: HTML = """
            <details open><summary>As it was counted</summary>\
            <pre class="plan" dir="auto" tabindex="0">\(UntrustedText.shown(plan.previewText))</pre></details>
            """
        let content: HTML = """
            \(CampaignChange(since: plan, at: .now()).map { "<p class=\"stop\">\($0.sentences(calling: "The campaign’s file"))</p>" as HTML } ?? "")
            \(written(by: writers))
            \(warnings(plan))
            \(sentSince(plan, site))
            \(PlannedTextCards.html(of: plan))
            \(plan.previewText.isEmpty ? "" : counted)
            \(comparison(run, with: earlier.first))
            """
        return Words.panel("The plan", id: "plan", content)
    }

    /// The writers of a campaign. If that record is damaged, everything else is still shown, and
    /// the plan cannot be approved.
    static func written(by writers: Result<Set<String>, any Error>) -> HTML {
        switch writers {
        case .success(let names) where names.isEmpty:
            "<p class=\"note\">Who wrote this version is not known: it was not saved in the console.</p>"
        case .success(let names): "<p>Written by <b dir=\"auto\">\(names.sorted().joined(separator: ", "))</b>.</p>"
        case .failure:
            """
            <p class="stop">Who wrote this version cannot be read, as the file of accounts is damaged. It cannot be approved before the accounts \
            are restored from a backup.</p>
            """
        }
    }

    /// What was doubtful when it was planned.
    private static func warnings(_ plan: RunPlan) -> HTML {
        guard case .array(let warnings)? = plan.preview["warnings"], !warnings.isEmpty else { return "" }
        let items: [HTML] = warnings.map { warning in
            let message = TextFormat.capitalized(warning["message"]?.stringValue ?? "")
            let remedy =
                remedies(ofWarning: warning["name"]?.stringValue ?? "")?.map(\.sentence).joined(separator: " ")
                ?? warning["remedy"]?.stringValue ?? ""
            return "<li dir=\"auto\">\(place(of: warning))\(Prose.html(message)). \(Prose.html(remedy))</li>"
        }
        return "<section class=\"warnings\" aria-label=\"Warnings\"><ul>\(items)</ul></section>"
    }

    /// The file's name and the line of a warning: ten rows of an export may be wrong in the same way. Blank without a line. Paths of the
    /// server are left to logs.
    static func place(of warning: JSONValue) -> String {
        guard let file = warning["file"]?.stringValue?.split(separator: "/").last, let line = warning["line"]?.text else { return "" }
        return line == "null" ? "" : "\(TextFormat.inLine(String(file))), line \(line): "
    }

    /// What was sent to the app's devices since it was planned: its own warnings cannot include that.
    private static func sentSince(_ plan: RunPlan, _ site: Site) -> HTML {
        guard let settings = try? plan.settings.get(), plan.retryOf == nil else { return "" }
        let now = Timestamp.now()
        guard
            let sendings = try? RecentSendings(of: plan.app, in: settings, site.catalog, since: plan.plannedAt, now: now, besides: plan.id)
        else {
            let words: HTML = "<li>What was sent since then is not known: the record of it cannot be read.</li>"
            return "<section class=\"warnings\" aria-label=\"Sent since\"><ul>\(words)</ul></section>"
        }
        let unread = RecentSendings.words(unread: sendings.unread).map { "<li dir=\"auto\">\($0).</li>" as HTML }
        let items: [HTML] =
            sendings.all.map { sending in
                """
                <li dir="auto"><a href="\(Words.path(of: sending.run))">\(sending.campaign)</a> went to \(TextFormat.devices(sending.devices)) of \(plan.app) \
                \(PreviousSending.ago(sending.begunAt, now: now)), after this was planned. They may be the same devices.</li>
                """
            } + [unread].compactMap(\.self)
        guard !items.isEmpty else { return "" }
        return "<section class=\"warnings\" aria-label=\"Sent since\"><ul>\(items)</ul></section>"
    }

    /// A plan keeps the remedies of its warnings as the terminal says them. nil for a warning whose remedy names no command.
    static func remedies(ofWarning name: String) -> [Remedy]? {
        switch WarningName(name, from: []) {
        case .audienceEmpty: [.explainDevice]
        case .audienceChanged: [.ask(.checkExport), .seeRuns]
        case .lastRunUnfinished, .sentRecently: [.seeRuns]
        case .schedulePast: [.giveAnotherTime]
        default: nil
        }
    }

    /// The campaign as it is planned, next to its run that was begun last.
    private static func comparison(_ run: RunFile, with earlier: RunFile?) -> HTML {
        guard let earlier else {
            return "<h3>Since it was sent last</h3><p class=\"note\">This campaign was not sent before.</p>"
        }
        defer { earlier.close() }
        let plan = earlier.plan
        let then: HTML = plan.audience == run.plan.audience ? "the same number as now" : "\(TextFormat.devices(plan.audience)) then"
        return """
            <h3>Since it was sent last</h3>
            <p><a href="\(Words.path(of: plan.id))">\(plan.id)</a>, \(then).</p>
            \(LineDiff.html(from: plan.campaignSource, to: run.plan.campaignSource))
            """
    }
}
