import Accounts
import Automation
import Base
import Campaigns
import Runs
import Workspace

/// The page of one campaign: what phones show, the audience, how far it is and what comes next;
/// below that what can be ordered, its runs, and its source with mistakes below their lines.
enum CampaignPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let found = try CampaignFindings(file: item.path, visit, site)
        let (errors, findings) = (found.errors, found.all)
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        let text = String(decoding: bytes, as: UTF8.self)
        let own = findings.filter { $0.position?.file == item.path }
        let mayEdit = visit.may(.edit, app: item.app)
        let facts = try CampaignFacts(item, bytes, errors, visit, site)
        let phone = phone(item, bytes, visit, site)
        let source: HTML = """
            <section class="panel" aria-labelledby="source"><details\(errors.isEmpty ? "" : " open" as HTML)><summary><h2 id="source">Source</h2></summary>
            \(mayEdit ? "<p><a href=\"/campaign/edit\(FormFields.query([("file", item.file)]))\">Edit the source</a></p>" : "" as HTML)\(lines(text, own))</details></section>
            """
        let content: HTML = """
            \(Words.head("\(item.name ?? item.file)", "<p dir=\"auto\">\(item.description ?? "")</p><p>\(Words.file(of: item))</p>"))
            \(visit.query["saved"] == nil ? "" : "<p class=\"good\" role=\"status\">Saved.</p>" as HTML)
            \(links(item, visit))
            \(TranslationMark.doubt(in: CampaignSaving.text(of: bytes)))
            \(state(errors, findings, item, form: mayEdit ? "/campaign/form" + FormFields.query([("file", item.file)]) : nil))
            <section class="panel overview" aria-label="At a glance"><div class="seen">\(phone.first)</div>\(facts.html)\(phone.others)</section>
            \(try earlierPlans(item, visit, site))
            \(hindrances(facts.hindrances, item))
            \(try DraftPages.panel(of: item.file, visit, site))
            \(errors.isEmpty ? try CampaignOrders.panel(item, bytes, visit, site) : "")
            \(facts.runs.isEmpty ? "" : Words.panel("Runs", id: "runs", RunsPage.table(facts.runs.prefix(10))))
            \(source)
            \(mayEdit ? Words.panel("When it is not needed any more", id: "archive", try CampaignArchiving.form(item, digest: ShownFile.digest(of: bytes), visit, site)) : "")
            """
        return .page(Page(title: item.name ?? item.file, place: .campaigns, content: content))
    }

    /// What was found, in the words of the form; the source has it at its lines.
    private static func state(
        _ errors: [Diagnostic], _ findings: [Diagnostic], _ item: CampaignCache.Item, form: String?
    ) -> HTML {
        let words: HTML =
            errors.isEmpty
            ? "<p class=\"note\">No mistakes\(findings.isEmpty ? "." : ", but look at this:" as HTML)</p>"
            : "<p class=\"stop\">\(TextFormat.counted(errors.count, one: "mistake")). Nothing is sent from this file until it is mended.</p>"
        guard !findings.isEmpty else { return words }
        let mistakes: [HTML] = errors.map { "<li dir=\"auto\">\(FieldWords.text($0, in: item.path))</li>" }
        let doubts = findings.filter { $0.severity == .warning }.map { WarningWords($0) }
        let lines = mistakes + WarningWords.items(doubts, form: form)
        return "\(words)<section class=\"warnings\" aria-label=\"What was found\"><ul>\(lines)</ul></section>"
    }

    private static func hindrances(_ found: [Diagnostic], _ item: CampaignCache.Item) -> HTML {
        guard !found.isEmpty else { return "" }
        let lines: [HTML] = found.map {
            "<li>\(FieldWords.origin($0, besides: item.path))\(Words.text($0, withPlace: false))</li>"
        }
        return """
            <section class="warnings" aria-label="Not sent"><p><b>This campaign is not sent at its times.</b></p><ul>\(lines)</ul></section>
            """
    }

    private static func links(_ item: CampaignCache.Item, _ visit: Visit) -> HTML {
        let query = FormFields.query([("file", item.file)])
        let mayEdit = visit.may(.edit, app: item.app)
        let links: [HTML] =
            (mayEdit ? ["<a class=\"button main\" href=\"/campaign/form\(query)\">Edit</a>"] : [])
            + ["<a class=\"button\" href=\"/campaign/preview\(query)\">Preview</a>"]
            + (mayEdit ? ["<a class=\"button\" href=\"/campaigns/new\(query)\">Duplicate</a>"] : [])
            + ["<a href=\"/campaign/history\(query)\">History</a>"]
        return "<p class=\"turns\">\(links)</p>"
    }

    /// What devices see, as far as that was found out already: opening this page reads no export.
    /// Otherwise the text as it is written.
    private static func phone(
        _ item: CampaignCache.Item, _ bytes: [UInt8], _ visit: Visit, _ site: Site
    ) -> (first: HTML, others: HTML) {
        let text = CampaignSaving.text(of: bytes)
        if let state = try? DraftPreview.of(item, text: text, begins: false, visit, site),
            case .known(let preview) = state
        {
            return PhoneControl.glance(preview.samples, app: item.app ?? "") ?? (
                PhoneControl.phones(state, app: item.app ?? ""), ""
            )
        }
        return (YAMLEdit(text).flatMap { try? PhoneControl.written($0, of: item, visit, site) } ?? "", "")
    }

    /// Plans of the file's earlier versions that may still be sent: saving a new one changes
    /// nothing about them. Blank without any.
    private static func earlierPlans(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> HTML {
        let plans = try site.archive.plans(ofFile: item.path).filter { visit.may(.readReports, app: $0.app) }
        let lines: [HTML] = plans.prefix(10).compactMap { summary in
            // It may have been sent or removed a moment ago.
            guard let run = try? site.catalog.open(summary.id) else { return nil }
            defer { run.close() }
            guard let change = CampaignChange(since: run.plan, at: visit.now) else { return nil }
            return """
                <li>A plan of an earlier version waits: <a href="\(Words.path(of: summary.id))">\(summary.id)</a>. \
                \(change.sentences(calling: "The campaign")) Its page has the button that cancels it.</li>
                """
        }
        return lines.isEmpty
            ? "" : "<section class=\"warnings\" aria-label=\"Plans of earlier versions\"><ul>\(lines)</ul></section>"
    }

    /// The source line by line, with what was found below its line.
    private static func lines(_ text: String, _ findings: [Diagnostic]) -> HTML {
        let byLine = Dictionary(grouping: findings) { $0.position?.line ?? 0 }
        var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        if lines.last?.isEmpty == true { lines.removeLast() }
        let items: [HTML] = lines.enumerated().map { index, line in
            let found = byLine[index + 1] ?? []
            let notes: HTML = found.isEmpty ? "" : "<ul class=\"findings\">\(found.map(CampaignsPage.finding))</ul>"
            let look: HTML = found.isEmpty ? "" : " class=\"found\""
            return "<li\(look) id=\"L\(index + 1)\"><code>\(UntrustedText.shown(String(line)))</code>\(notes)</li>"
        }
        return "<ol class=\"source\" dir=\"ltr\">\(items)</ol>"
    }
}

/// The audience of a campaign, how far it is, what comes next, and how it went last.
private struct CampaignFacts {
    let runs: [RunSummary]
    let hindrances: [Diagnostic]
    private let rows: [(name: HTML, value: HTML)]

    init(_ item: CampaignCache.Item, _ bytes: [UInt8], _ errors: [Diagnostic], _ visit: Visit, _ site: Site) throws {
        let project = try site.project()
        hindrances = try site.campaigns.hindrances(project: project, now: visit.now)[item.file] ?? []
        runs =
            visit.maySomewhere(.readReports)
            ? try site.archive.listing().runs.filter {
                $0.campaign == item.name && visit.may(.readReports, app: $0.app)
            } : []
        let draft = CampaignSaving.draft(bytes, file: item.path, project, at: visit.now)
        let next =
            item.isScheduled
            ? (try? site.campaigns.nextTimes(of: item, count: 1, project: project, now: visit.now))?.first : nil
        let sent = runs.filter { !$0.isTest && $0.retryOf == nil }
        var rows: [(HTML, HTML)] = [("App", "\(item.app ?? "not named")")]
        if let audience = draft.audience { rows.append(("Who", AudienceWords.html(audience))) }
        rows.append(("When", Self.when(item, next)))
        let needsApproval = item.app.flatMap { project.app(named: $0) }?.needsApproval ?? false
        let mayAsk =
            visit.may(.askForApproval, app: item.app) && !(next.map { TimeApproval.isRequested($0, site) } ?? false)
        let step: HTML =
            !errors.isEmpty
            ? "Mend the mistakes"
            : !hindrances.isEmpty
                ? "Mend what keeps it from being sent, below"
                : Self.nextStep(item, sent, next, needsApproval: needsApproval, mayAsk: mayAsk)
        rows.append(("Next step", step))
        if let last = sent.first(where: { $0.startedAt != nil }) { rows.append(("Last result", Self.result(last))) }
        self.rows = rows
    }

    var html: HTML {
        "<dl class=\"facts\">\(rows.map { "<dt>\($0.name)</dt><dd dir=\"auto\">\($0.value)</dd>" as HTML })</dl>"
    }

    private static func when(_ item: CampaignCache.Item, _ next: ScheduleList.Time?) -> HTML {
        guard item.isScheduled else { return "By hand" }
        guard let next else { return "No time is left" }
        return "\(CalendarPage.when(next))"
    }

    private static func nextStep(
        _ item: CampaignCache.Item, _ runs: [RunSummary], _ next: ScheduleList.Time?, needsApproval: Bool, mayAsk: Bool
    ) -> HTML {
        if let live = runs.first(where: \.isLive) {
            return "It is being sent: <a href=\"\(Words.path(of: live.id))\">watch it</a>"
        }
        if let plan = runs.first(where: { $0.isPlan && !$0.isHeld }) {
            let what: HTML = needsApproval && !plan.isApproved ? "A plan waits for an approval" : "A plan can be sent"
            return "\(what): <a href=\"\(Words.path(of: plan.id))\">look at it</a>"
        }
        if let next {
            return next.approval == .missing
                ? (mayAsk
                    ? "<a href=\"#actions\">Ask for the approval</a> of its next time ahead"
                    : "An approver can approve its next time ahead")
                : "Nothing: it is planned by itself when its time comes"
        }
        if item.isScheduled { return "Give it another time, or archive it" }
        return needsApproval
            ? "<a href=\"#actions\">Ask for the approval</a> of a plan"
            : "<a href=\"#actions\">Plan it</a>, then send the plan"
    }

    private static func result(_ run: RunSummary) -> HTML {
        let figures: HTML =
            run.outcomes == nil
            ? "being counted"
            : "\(TextFormat.count(run.count(.accepted))) of \(TextFormat.devices(run.audience)) accepted"
        return """
            <a href="\(Words.path(of: run.id))">\(figures)</a>, \(Words.state(run.state)), begun \(Words.moment(run.startedAt ?? run.plannedAt))\
            \(Words.bar(of: run))
            """
    }
}

/// An audience in words.
enum AudienceWords {
    /// Longer lists are cut: the form has them.
    private static let most = 6

    static func html(_ audience: CampaignAudience) -> HTML {
        // Tags that a device must have, or must not have, count for what is chosen by tags, and not
        // for aliases.
        let tags = [
            list(audience.anyTags).map { "with the tag \($0)" },
            list(audience.allTags, "and").map { "with all of the tags \($0)" },
            list(audience.noneTags).map { "without the tag \($0)" },
        ].compactMap(\.self)
        let parts = [
            audience.everyone ? "every device of the export" : nil,
            audience.channel.map { "phones that follow the channel \(TextFormat.inLine($0.value))" },
            tags.isEmpty ? nil : "devices \(tags.joined(separator: " and "))",
            list(audience.aliases).map { "devices of the aliases \($0)" },
            list(audience.registrationIDs).map { "the devices \($0)" },
        ].compactMap(\.self)
        let limits = audience.conditions.map(condition)
        let without = [
            list(audience.excludedTags).map { "with the tag \($0)" },
            list(audience.excludedAliases).map { "of the aliases \($0)" },
            list(audience.excludedRegistrationIDs).map { "that are \($0)" },
            audience.excludedDevices.isEmpty
                ? nil : "listed in \(audience.excludedDevices.map(\.value).joined(separator: ", "))",
        ].compactMap(\.self)
        if parts.isEmpty, limits.isEmpty { return "Not chosen yet" }
        var words = TextFormat.capitalized(parts.isEmpty ? "devices" : parts.joined(separator: ", and "))
        if !limits.isEmpty { words += ", if " + limits.joined(separator: ", and ") }
        if !without.isEmpty { words += "; but not those " + without.joined(separator: ", or ") }
        return "\(words)"
    }

    private static func list(_ names: NameList, _ word: String = "or") -> String? {
        guard !names.isEmpty else { return nil }
        let shown = names.names.prefix(most).map { TextFormat.inLine($0.value) }
        let rest = names.names.count - shown.count
        let listed = names.file.map { "the list \(TextFormat.inLine($0.value))" }
        let all = shown + (rest > 0 ? ["\(TextFormat.count(rest)) more"] : []) + [listed].compactMap(\.self)
        return all.count < 2 ? all.first : all.dropLast().joined(separator: ", ") + " \(word) " + all[all.count - 1]
    }

    private static func condition(_ condition: ColumnCondition) -> String {
        let column = TextFormat.inLine(condition.column.value).replacing("_", with: " ")
        func days(_ seconds: Int) -> String { TextFormat.span(seconds: Int64(seconds)) }
        switch condition.test {
        case .oneOf(let values):
            return "\(column) is \(values.prefix(most).map { TextFormat.inLine($0) }.joined(separator: " or "))"
        case .comparison(let comparison, let value): return "\(column) \(comparison.words) \(TextFormat.inLine(value))"
        case .within(let seconds): return "\(column) is at most \(days(seconds)) ago"
        case .olderThan(let seconds): return "\(column) is more than \(days(seconds)) ago"
        case .present: return "\(column) is known"
        case .missing: return "\(column) is not known"
        }
    }
}

extension ComparisonOperator {
    /// `is at least`
    fileprivate var words: String {
        switch self {
        case .less: "is less than"
        case .lessOrEqual: "is at most"
        case .equal: "is"
        case .notEqual: "is not"
        case .greaterOrEqual: "is at least"
        case .greater: "is more than"
        }
    }
}
