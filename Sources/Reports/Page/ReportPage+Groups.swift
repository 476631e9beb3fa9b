import Base
import Runs

/// Languages, variants, and other runs beside this one.
extension ReportPage {
    var groups: HTML {
        let (languages, variants) = (report.languages, report.variants)
        guard languages.count > 1 || !variants.isEmpty || report.holdout != nil else { return "" }
        var tables: [HTML] = []
        if languages.count > 1 {
            tables.append(
                groupTable(
                    "Languages", "By the language that the export gives for the device, not by that of the text it got.", "languages",
                    languages))
        }
        if !variants.isEmpty { tables.append(groupTable("Variants", "A device always falls into the same one.", "variants", variants)) }
        return """
            <section>
            <h2>Languages and variants</h2>
            <p class="note">“Got it” is the share of a row’s devices that APNs accepted the push for. It depends on the devices, hardly on the text: which text works better, only what people did afterwards can tell.</p>
            \(tables)
            \(holdout)
            \(cross)
            </section>
            """
    }

    private func groupTable(_ title: String, _ note: String, _ path: String, _ groups: [ReportGroup]) -> HTML {
        let shown = Outcome.allCases.filter { outcome in outcome == .accepted || groups.contains { $0.count(outcome) > 0 } }
        return """
            <h3>\(title)</h3>
            <p class="note">\(note)</p>
            <div class="scroll"><table>\(groupHead(title == "Variants" ? "Variant" : "Language", shown))<tbody>\(groupRows(path, groups, shown))</tbody></table></div>
            <p class="note" style="margin-bottom:1.2rem"></p>
            """
    }

    private func groupHead(_ name: String, _ shown: [Outcome]) -> HTML {
        let heads: [HTML] = shown.map { "<th scope=\"col\">\($0.name)</th>" }
        return "<thead><tr><th scope=\"col\">\(name)</th><th scope=\"col\">devices</th><th scope=\"col\">got it</th>\(heads)</tr></thead>"
    }

    private func groupRows(_ path: String, _ groups: [ReportGroup], _ shown: [Outcome]) -> [HTML] {
        var rows: [HTML] = groups.prefix(Self.shownRows).map { group in
            let counts: [HTML] = shown.map { "<td>\(figure("\(path)/\(group.name)/\($0.name)", group.count($0)))</td>" }
            return """
                <tr><th scope="row" dir="auto">\(group.name)</th><td>\(figure("\(path)/\(group.name)/audience", group.audience))</td>\
                <td>\(hasBegun ? TextFormat.percent(group.share(.accepted)) : "–")</td>\(counts)</tr>
                """
        }
        let hidden = groups.dropFirst(Self.shownRows)
        if !hidden.isEmpty {
            let devices = TextFormat.count(hidden.reduce(0) { $0 + $1.audience })
            rows.append("<tr><th scope=\"row\">and \(TextFormat.count(hidden.count)) more</th><td>\(devices)</td></tr>")
        }
        return rows
    }

    private var holdout: HTML {
        guard let holdout = report.holdout else { return "" }
        let all = report.plan.audience + holdout
        return """
            <h3>Holdout</h3>
            <p class="note">\(figure("skipped/holdout", holdout)) devices (\(Self.percent(holdout, of: all)) of those who were meant) were kept back and got nothing, to compare with. \
            Whether the campaign worked is the difference between what they and the others did afterwards: visits, purchases. Volley knows what APNs answered, not what people did; \
            the JSON and CSV reports help to find out elsewhere. The devices are drawn before texts are rendered, so that a few of them might not have got it anyhow.</p>
            """
    }

    private var cross: HTML {
        let variants = report.languagesOfVariants
        guard !variants.isEmpty else { return "" }
        let tables: [HTML] = variants.map { variant, languages in
            let shown = Outcome.allCases.filter { outcome in outcome == .accepted || languages.contains { $0.count(outcome) > 0 } }
            return """
                <h3 style="margin-top:1rem" dir="auto">\(variant)</h3>
                <div class="scroll"><table>\(groupHead("Language", shown))<tbody>\(groupRows("languages_of_variants/\(variant)", languages, shown))</tbody></table></div>
                """
        }
        return "<details><summary>Every language of every variant</summary>\(tables)</details>"
    }

    // MARK: - Other runs

    var chain: HTML {
        guard let first = report.chain.first else { return "" }
        let rows: [HTML] = report.chain.map { link in
            let accepted: HTML = link.accepted.map { figure("chain/\(link.id)/accepted", $0) } ?? "cannot be read"
            return """
                <tr><th scope="row">\(link.id)\(link.id == report.plan.id ? " (this run)" : "")</th><td>\(figure("chain/\(link.id)/audience", link.audience))</td><td>\(accepted)</td></tr>
                """
        }
        let together = report.chain.reduce(0) { $0 + ($1.accepted ?? 0) }
        return """
            <section>
            <h2>Chain of retries</h2>
            <p class="note">Each retry sends again to some devices of an earlier run. Together they came to \(TextFormat.count(together)) of \(TextFormat.count(first.audience)) devices, \(Self.percent(together, of: first.audience)).</p>
            <div class="scroll"><table><thead><tr><th scope="col">Run</th><th scope="col">devices</th><th scope="col">accepted</th></tr></thead><tbody>\(rows)</tbody></table></div>
            </section>
            """
    }

    var earlierRuns: HTML {
        guard !report.earlier.isEmpty else { return "" }
        let own: HTML = """
            <tr class="total"><th scope="row">\(Self.moment(report.plan.plannedAt)), this run</th><td>\(TextFormat.count(report.plan.audience))</td>\
            <td>\(hasBegun ? percent(report.count(.accepted)) : "–")</td><td>\(hasBegun ? percent(report.count(.invalidToken)) : "–")</td></tr>
            """
        let rows: [HTML] = report.earlier.map { run in
            """
            <tr><th scope="row">\(Self.moment(run.plannedAt))<br><span class="note">\(run.id)</span></th><td>\(figure("earlier_runs/\(run.id)/audience", run.audience))</td>\
            <td>\(Self.percent(run.accepted, of: run.audience))\(count("earlier_runs/\(run.id)/accepted", run.accepted))</td>\
            <td>\(Self.percent(run.invalidToken, of: run.audience))\(count("earlier_runs/\(run.id)/invalid_token", run.invalidToken))</td></tr>
            """
        }
        return """
            <section>
            <h2>Earlier runs of this campaign</h2>
            <p class="note">Tests and retries are left out. An audience that shrinks, or a growing share of devices without the app, is worth a look at the export.</p>
            <div class="scroll"><table><thead><tr><th scope="col">Planned (UTC)</th><th scope="col">devices</th><th scope="col">got it</th><th scope="col">app gone</th></tr></thead><tbody>\(own)\(rows)</tbody></table></div>
            </section>
            """
    }

    private func count(_ path: String, _ number: Int) -> HTML { "<br><span class=\"note\">\(figure(path, number))</span>" }

    var facts: HTML {
        let (plan, status) = (report.plan, report.status)
        var facts: [(String, String)] = [("App", plan.app), ("Run", plan.id), ("State", status.state.rawValue)]
        if let environment = plan.settings["environment"]?.stringValue { facts.append(("Sent to", environment)) }
        if let first = plan.retryOf { facts.append(("Retry of", first)) }
        facts.append(("Planned", Self.moment(plan.plannedAt)))
        if let approval = report.approval { facts.append(("Approved", "by \(approval.name), \(Self.moment(approval.approvedAt))")) }
        if let start = status.startedAt { facts.append(("Started", Self.moment(start))) }
        if let end = status.finishedAt {
            let isOdd = report.milliseconds == nil && status.startedAt != nil
            facts.append(("Ended", Self.moment(end) + (isOdd ? "; the clock was set back meanwhile" : "")))
        }
        if let prunedAt = report.prunedAt {
            facts.append(("Pruned", "\(Self.moment(prunedAt)); recipients were removed, figures are as they were"))
        }
        if let pace = plan.preview["seconds_at_pace"], case .double(let seconds) = pace {
            facts.append(("Promised", "\(TextFormat.duration(seconds: seconds)) at the pace it was planned with"))
        }
        if !plan.planHash.isEmpty { facts.append(("Plan hash", String(plan.planHash.prefix(16)))) }
        let rows: [HTML] = facts.map { "<dt>\($0)</dt><dd dir=\"auto\">\($1)</dd>" }
        return "<section><h2>About this run</h2><dl class=\"facts\">\(rows)</dl></section>"
    }
}
