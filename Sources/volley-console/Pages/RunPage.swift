import Accounts
import Base
import HTTPTypes
import Reports
import Runs

/// One run as it is now. A script keeps it up to date while the run is sent; without it there is a
/// link.
enum RunPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer { try page(visit, site) }

    /// - Parameter typed: what is wrong with a form of the page that was sent.
    static func page(
        _ visit: Visit, _ site: Site, status: HTTPResponse.Status = .ok,
        typed: (action: RunAction, message: HTML)? = nil
    ) throws -> Answer {
        let run = try run(visit, site)
        let path = Words.path(of: run.id)
        let viewModel = try RunOrders.viewModel(of: run, visit, site)
        let isLive = run.isLive || viewModel.liveState.isOpen
        let live: HTML = isLive ? " data-live=\"\(path)/live.json\" data-mark=\"\(viewModel.liveState.mark)\"" : ""
        let refresh: HTML = isLive ? "<p class=\"note\" data-without-script><a href=\"\(path)\">Refresh</a></p>" : ""
        // Its state already says that it was cancelled.
        let cause = run.cause == .cancelled ? nil : run.cause
        let why: HTML =
            cause.map {
                Words.panel("Why it stopped", id: "stopped", "<p>\(Prose.html($0.sentence(for: .console)))</p>")
            }
            ?? ""
        let export: HTML =
            visit.may(.exportTokens, app: run.app) && !run.isPruned && run.startedAt != nil
            ? "<p><a href=\"\(path)/results.csv\">Every device with its result (CSV)</a> <span class=\"note\">contains whole device tokens</span></p>"
            : ""
        let results: HTML =
            visit.may(.edit, app: run.app) && !run.isPruned && run.startedAt != nil
            ? "<p><a href=\"\(path)/devices.csv\">Every device with its result (CSV)</a> <span class=\"note\">tokens and registration ids are shortened</span></p>"
            : ""
        let compare: HTML =
            visit.maySomewhere(.readReports)
            ? " · <a href=\"\(RunsPage.path(comparing: run))\">Compare it with another run</a>" : ""
        let report: HTML =
            run.startedAt == nil ? "" : "<p><a href=\"\(path)/report\">Read the report</a>\(compare)</p>"
        // An approver decides at the top, and reads on below it.
        let form = visit.may(.edit, app: run.app) ? try campaign(of: run, visit, site) : nil
        let plan =
            run.state == .planned
            ? try PlanPart.html(
                run, site, form: form.map { "/campaign/form" + FormFields.query([("file", $0.file)]) }) : nil
        let content: HTML = """
            \(Words.head("\(run.campaign)", "<p>\(run.badges) <span data-fill=\"state\">\(Words.chips(of: run))</span> <code>\(run.id)</code></p>"))
            \(run.doubt.map(Words.warning) ?? "")
            \(why)
            \(plan.map { "\($0.first)\(RunOrders.panel(viewModel, visit, typed: typed))\($0.rest)" } ?? "" as HTML)
            <section class="panel" aria-labelledby="progress"\(live)><h2 id="progress">Progress</h2>
            <div data-fill="progress" aria-live="polite">\(progress(run, site.rate, at: visit.now))</div>\(refresh)</section>
            \(plan != nil ? "" : RunOrders.panel(viewModel, visit, typed: typed))
            \(try TestForm.sent(run, site))
            \(RunOrders.history(viewModel))
            \(Words.panel("About this run", id: "about", try facts(viewModel, visit, site)))
            \(report)\(results)\(export)
            \(DeviceExplanation.form(of: run, visit))
            \(plan != nil ? RunOrders.shortcuts(viewModel, visit) : "")
            """
        return .page(Page(status: status, title: run.campaign, place: .runs, content: content))
    }

    /// What the script puts into the page: the same pieces, made in the same place.
    static func live(_ visit: Visit, _ site: Site) throws -> Answer {
        let run = try run(visit, site)
        let liveState = try RunOrders.LiveState(run, site)
        return .json(
            .object(pairs: [
                ("state", .string(run.state.rawValue)), ("is_live", .bool(run.isLive || liveState.isOpen)),
                ("mark", .string(liveState.mark)),
                ("audience", .integer(Int64(run.audience))),
                ("settled", .integer(Int64(run.settled))),
                (
                    "outcomes",
                    run.outcomes.map { outcomes in
                        .object(pairs: Outcome.allCases.map { ($0.name, .integer(Int64(outcomes[$0, default: 0]))) })
                    } ?? .null
                ),
                (
                    "pieces",
                    .object(pairs: [
                        ("state", .string(Words.chips(of: run).markup)),
                        ("progress", .string(progress(run, site.rate, at: visit.now).markup)),
                    ])
                ),
            ]))
    }

    /// The report inside the console.
    static func report(_ visit: Visit, _ site: Site) throws -> Answer {
        let run = try run(visit, site)
        let report = try site.reports.page(of: run, madeBy: "Volley \(volleyVersion)", at: visit.now)
        let why: HTML =
            run.startedAt == nil || run.isPruned
            ? "" : " · <a href=\"\(Words.path(of: run.id))#why\">Why this device?</a>"
        let back: HTML = "<p class=\"note\"><a href=\"\(Words.path(of: run.id))\">Back to the run</a>\(why)</p>"
        return .page(Page(title: "Report of \(run.campaign)", place: .runs, content: "\(back)\(report)"))
    }

    /// Every device with its result, without whole tokens.
    static func shortened(_ visit: Visit, _ site: Site) throws -> Answer {
        let run = try run(visit, site)
        guard !run.isPruned else { throw Refusal.notFound }
        let (catalog, id) = (site.catalog, run.id)
        return .download(name: "\(id)-devices.csv", type: "text/csv; charset=utf-8") { part in
            let run = try catalog.open(id)
            defer { run.close() }
            var filter = ReportCSV.Filter()
            filter.hasWholeTargets = false
            try ReportCSV.write(run, filter, as: .plain, to: part)
        }
    }

    /// Every device with its result.
    static func results(_ visit: Visit, _ site: Site) throws -> Answer {
        let run = try run(visit, site)
        guard !run.isPruned else { throw Refusal.notFound }
        let (catalog, id) = (site.catalog, run.id)
        return .download(name: "\(id).csv", type: "text/csv; charset=utf-8") { part in
            let run = try catalog.open(id)
            defer { run.close() }
            try TokenExport.noting(app: run.plan.app, run: id, visit, site) { counted in
                try ReportCSV.write(run, ReportCSV.Filter(), as: .plain) { try part(counted($0)) }
            }
        }
    }

    /// The run that the path names.
    static func run(_ visit: Visit, _ site: Site) throws -> RunSummary {
        guard let run = try site.archive.summary(of: visit.parameters["run"] ?? "") else { throw Refusal.notFound }
        return run
    }

    /// A service that takes nothing for this long is reported, in seconds.
    private static let timeoutSeconds = 4.0

    private static func progress(_ run: RunSummary, _ rates: LiveRate, at now: Timestamp) -> HTML {
        guard run.startedAt != nil else {
            let begun: HTML =
                run.state == .cancelled
                ? "Cancelled before it began. It was"
                : run.isHeld ? "Not begun by the backup. It was" : "Not begun. It is"
            return "<p class=\"lead\">\(begun) planned for \(TextFormat.devices(run.audience)).</p>"
        }
        var words: HTML = "\(TextFormat.count(run.settled)) of \(TextFormat.devices(run.audience))"
        if let rate = rates.perSecond(of: run) {
            words = "\(words) · \(TextFormat.count(Int(rate.rounded()))) a second"
            let left = run.audience - run.settled
            if rate > 0, left > 0 {
                words = "\(words) · about \(TextFormat.span(seconds: Int64((Double(left) / rate).rounded(.up)))) left"
            }
        }
        let next = run.state == .running ? run.waves.first { $0.due > now } : nil
        let wait: HTML = next.map { "<p class=\"note\">The next part goes out at \(Words.moment($0.due)).</p>" } ?? ""
        let quiet =
            next == nil ? silence(of: run, seconds: rates.secondsWithoutOutcome(of: run, at: now), at: now) : ""
        return "<p class=\"lead\">\(words)</p>\(quiet)\(Words.outcomes(of: run))\(wait)"
    }

    /// The text while devices wait and no push is taken; blank for a few seconds.
    static func silence(of run: RunSummary, seconds: Double, at now: Timestamp) -> HTML {
        let waiting = run.audience - run.settled
        guard seconds >= timeoutSeconds + run.secondsBetweenPushes * 2, waiting > 0 else { return "" }
        return """
            <p class="stop" role="status">\(run.services.count == 1 ? "\(run.services[0]) has" : "The services have" as HTML) taken no push since \
            \(Words.moment(now.adding(seconds: -seconds))): \
            \(TextFormat.devices(waiting)) \(TextFormat.plural(waiting, one: "waits", many: "wait")). The sender keeps trying. \
            \(Remedy.ask(.checkCredentials).sentence)</p>
            """
    }

    /// The campaign as it is now; nil if there is no such file any more, or the reader may not see
    /// it.
    static func campaign(of run: RunSummary, _ visit: Visit, _ site: Site) throws -> CampaignCache.Item? {
        guard visit.may(.seeCampaigns, app: run.app) else { return nil }
        return try site.campaigns.items(project: site.project(), now: visit.now).first { item in
            !run.campaignFiles.isDisjoint(with: [FilePaths.named(item.path), FilePaths.absolute(item.path)])
        }
    }

    private static func facts(_ viewModel: RunOrders.ViewModel, _ visit: Visit, _ site: Site) throws -> HTML {
        let run = viewModel.run
        let file = try campaign(of: run, visit, site)
        let campaign: HTML =
            file.map { "<a href=\"\(Words.path(ofCampaign: $0.file))\">\(run.campaign)</a>" } ?? "\(run.campaign)"
        var facts: [(HTML, HTML)] = [
            ("Campaign", campaign), ("App", "\(run.app)"), ("Planned", Words.moment(run.plannedAt)),
        ]
        if let begun = run.startedAt { facts.append(("Begun", Words.moment(begun))) }
        if let ended = run.finishedAt { facts.append(("Ended", Words.moment(ended))) }
        if let restored = run.restored {
            facts.append(("Put back", "From a backup of \(Words.moment(restored.backupAt))"))
        }
        if run.isTest { facts.append(("Kind", "A test, to the app’s test devices")) }
        if let retried = run.retryOf {
            facts.append(("Retries", "<a href=\"\(Words.path(of: retried))\">\(retried)</a>"))
        }
        let retries: [HTML] = viewModel.retries.map {
            "<li><a href=\"\(Words.path(of: $0.id))\">\($0.id)</a>, \(TextFormat.devices($0.audience))</li>"
        }
        if !retries.isEmpty { facts.append(("Retried by", "<ul class=\"list\">\(retries)</ul>")) }
        if run.isPruned { facts.append(("Recipients", "Removed; only the figures are left")) }
        let rows: [HTML] = facts.map { "<dt>\($0)</dt><dd dir=\"auto\">\($1)</dd>" }
        return "<dl class=\"facts\">\(rows)</dl>"
    }
}
