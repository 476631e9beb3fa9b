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
    /// - Parameter form: the address of the campaign's form; nil for readers that may not edit.
    /// - Returns: what an approver must know before the buttons, and the rest, which is below them.
    static func html(_ summary: RunSummary, _ site: Site, form: String?) throws -> (first: HTML, rest: HTML) {
        let run = try site.catalog.open(summary.id)
        defer { run.close() }
        let plan = run.plan
        let earlier = try site.archive.begun(before: summary)
        let writers = Result { try site.rights.writers(of: run, after: Set(earlier.map(\.sourceDigest))) }
        let counted: HTML = """
            <details><summary>As the terminal shows it</summary>\
            <pre class="plan" dir="auto" tabindex="0">\(UntrustedText.shown(plan.previewText))</pre></details>
            """
        let (lately, doubts) = warnings(plan, form: form)
        let first: HTML = """
            \(TranslationMark.doubt(in: plan.campaignSource))
            \(CampaignChange(since: plan, at: .now()).map { "<p class=\"stop\">\($0.sentences(calling: "The campaign’s file"))</p>" as HTML } ?? "")
            \(decision(plan))\(lately)\(sentSince(plan, site))
            """
        let content: HTML = """
            \(written(by: writers))
            \(facts(plan))
            \(PlannedTextCards.html(of: plan))
            \(doubts)
            \(figures(plan))
            \(comparison(run, with: try earlier.first.map { try site.catalog.withRun($0.id) { $0.plan } }))
            \(plan.previewText.isEmpty ? "" : counted)
            """
        return (first, Words.panel("The plan", id: "plan", content))
    }

    /// What is decided about, for the first screen of a phone: how many devices get which text.
    private static func decision(_ plan: RunPlan) -> HTML {
        """
        <section class="panel" aria-label="What goes out"><p class="lead"><b>\(TextFormat.devices(plan.audience))</b></p>\
        \(PlannedTextCards.html(of: plan, first: true))</section>
        """
    }

    // MARK: - Its figures, as the preview showed them

    /// What each member of `in_words` answers.
    private static let questions = [
        ("audience", "To"), ("expires", "Expires"), ("priority", "Priority"), ("frequency", "Frequency"),
    ]

    /// The devices, the rules and the time, in words.
    private static func facts(_ plan: RunPlan) -> HTML {
        let preview = plan.preview
        var facts: [(HTML, HTML)] = [("Devices", "<b>\(TextFormat.count(plan.audience))</b>")]
        for (key, question) in questions {
            if let words = preview["in_words"]?[key]?.stringValue { facts.append(("\(question)", "\(words)")) }
        }
        if let first = plan.waves.map(\.due).min(), let last = plan.waves.map(\.due).max() {
            facts.append(
                ("When", first == last ? Words.moment(first) : "from \(Words.moment(first)) to \(Words.moment(last))"))
        }
        if let seconds = preview["seconds_at_pace"]?.doubleValue {
            facts.append(("Takes", "\(TextFormat.duration(seconds: seconds)) at its pace"))
        }
        let rows: [HTML] = facts.map { "<dt>\($0)</dt><dd dir=\"auto\">\($1)</dd>" }
        return "<dl class=\"facts\">\(rows)</dl>"
    }

    /// The devices by selector, text and reason, folded: the decision rests on what is above.
    private static func figures(_ plan: RunPlan) -> HTML {
        func bars(_ title: HTML, _ member: String, of whole: Int?) -> HTML {
            guard case .object(let counts)? = plan.preview[member], !counts.isEmpty else { return "" }
            let items = counts.compactMap { member in
                member.value.integerValue.map { count in
                    BarList.Item(
                        "<span dir=\"auto\">\(member.name)</span>", "\(TextFormat.count(Int(count)))",
                        share: whole.map { TextFormat.percent(Double(count) / Double(max(1, $0))) } ?? "",
                        parts: [.init(Int(count))])
                }
            }
            return "<h3>\(title)</h3>\(BarList(items, whole: whole).html)"
        }
        let rows = plan.preview["rows"]?.integerValue.map { Int($0) }
        let parts: HTML = """
            \(bars("Selected by", "selected_by", of: plan.audience))\(bars("Languages", "languages", of: plan.audience))\
            \(bars("Variants", "variants", of: plan.audience))\(bars("Rows left out, by reason", "skipped", of: rows))
            """
        let isEmpty = ["selected_by", "languages", "variants", "skipped"].allSatisfy {
            if case .object(let counts)? = plan.preview[$0] { counts.isEmpty } else { true }
        }
        return isEmpty ? "" : "<details><summary>How the devices were counted</summary>\(parts)</details>"
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

    /// What was doubtful when it was planned: recent pushes to the same devices, and the rest.
    private static func warnings(_ plan: RunPlan, form: String?) -> (lately: HTML, rest: HTML) {
        guard case .array(let all)? = plan.preview["warnings"], !all.isEmpty else { return ("", "") }
        func name(_ warning: JSONValue) -> String { warning["name"]?.stringValue ?? "" }
        let recent = WarningName.sentRecently.rawValue
        return (
            // Their words count the minutes until the plan was made.
            list(
                all.filter { name($0) == recent }, form: form, label: "Sent lately",
                about: "<p class=\"note\">When this was planned, \(Words.moment(plan.plannedAt)):</p>"),
            list(all.filter { name($0) != recent }, form: form, label: "Warnings")
        )
    }

    private static func list(_ warnings: [JSONValue], form: String?, label: HTML, about: HTML = "") -> HTML {
        guard !warnings.isEmpty else { return "" }
        let items = WarningWords.items(warnings.map { WarningWords($0) }, form: form)
        return "<section class=\"warnings\" aria-label=\"\(label)\">\(about)<ul>\(items)</ul></section>"
    }

    /// What was sent to the app's devices since it was planned: its own warnings cannot include
    /// that.
    private static func sentSince(_ plan: RunPlan, _ site: Site) -> HTML {
        guard let settings = try? plan.settings.get(), plan.retryOf == nil else { return "" }
        let now = Timestamp.now()
        guard
            let sendings = try? RecentSendings(
                of: plan.app, in: settings, site.catalog, since: plan.plannedAt, now: now, besides: plan.id)
        else {
            let words: HTML = "<li>What was sent since then is not known: the record of it cannot be read.</li>"
            return "<section class=\"warnings\" aria-label=\"Sent since\"><ul>\(words)</ul></section>"
        }
        let unread = RecentSendings.words(unread: sendings.unread).map { "<li dir=\"auto\">\($0).</li>" as HTML }
        let items: [HTML] =
            sendings.all.map { sending in
                """
                <li dir="auto"><a href="\(Words.path(of: sending.run))">\(sending.campaign)</a> \(sending.words(sincePlan: plan.plannedAt, now: now)). They may be the same devices.</li>
                """
            } + [unread].compactMap(\.self)
        guard !items.isEmpty else { return "" }
        return "<section class=\"warnings\" aria-label=\"Sent since\"><ul>\(items)</ul></section>"
    }

    /// The campaign as it is planned, next to its run that was begun last.
    private static func comparison(_ run: RunFile, with earlier: RunPlan?) -> HTML {
        guard let plan = earlier else {
            return "<h3>Since it was sent last</h3><p class=\"note\">This campaign was not sent before.</p>"
        }
        let now = run.plan
        let then: HTML =
            plan.audience == now.audience ? "the same number as now" : "\(TextFormat.devices(plan.audience)) then"
        let list = changes(from: plan, to: now)
        let source = LineDiff.html(from: plan.campaignSource, to: now.campaignSource)
        return """
            <h3>Since it was sent last</h3>
            <p><a href="\(Words.path(of: plan.id))">\(plan.id)</a>, \(then).</p>
            \(list)<details\(list.markup.isEmpty ? " open" : "" as HTML)><summary>Line by line</summary>\(source)</details>
            """
    }

    /// Rules and texts that differ, with both; blank where none does.
    static func changes(from old: RunPlan, to new: RunPlan) -> HTML {
        let changes = changedRules(from: old, to: new) + changedTexts(from: old, to: new)
        return changes.isEmpty ? "" : "<ul class=\"list changes\">\(changes)</ul>"
    }

    private static func changedRules(from old: RunPlan, to new: RunPlan) -> [HTML] {
        questions.compactMap { key, question in
            let (then, now) = (
                old.preview["in_words"]?[key]?.stringValue ?? "", new.preview["in_words"]?[key]?.stringValue ?? ""
            )
            return then == now ? nil : change("\(question)", then, now)
        }
    }

    /// Texts that differ, are new or are gone, by variant and language.
    private static func changedTexts(from old: RunPlan, to new: RunPlan) -> [HTML] {
        func texts(_ plan: RunPlan) -> [(place: String, text: String)] {
            guard case .array(let messages)? = plan.preview["messages"] else { return [] }
            return messages.map { message in
                func part(_ key: String) -> String { message[key]?.stringValue ?? "" }
                let language =
                    part("language").isEmpty ? "" : LanguageName.english(part("language")) ?? part("language")
                let place = [part("service"), part("variant").isEmpty ? "" : "variant \(part("variant"))", language]
                return (
                    place.filter { !$0.isEmpty }.joined(separator: ", "),
                    ["title", "subtitle", "body"].map(part).filter { !$0.isEmpty }.joined(separator: "\n")
                )
            }
        }
        let (before, after) = (texts(old), texts(new))
        let places = (before + after).map(\.place).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return places.compactMap { place in
            let then = before.first { $0.place == place }?.text ?? "",
                now = after.first { $0.place == place }?.text ?? ""
            return then == now ? nil : change(place.isEmpty ? "Text" : "Text: \(place)", then, now)
        }
    }

    private static func change(_ what: HTML, _ then: String, _ now: String) -> HTML {
        func words(_ text: String) -> HTML {
            text.isEmpty ? "<i>nothing</i>" : "<span class=\"said\" dir=\"auto\">\(text)</span>"
        }
        return
            "<li><b>\(what)</b><br><span class=\"note\">Then:</span> \(words(then))<br><span class=\"note\">Now:</span> \(words(now))</li>"
    }
}
