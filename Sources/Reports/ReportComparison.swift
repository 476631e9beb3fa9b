public import Base
import PushServices
import Runs

/// Two runs compared: figure by figure, and the differences in words. Made from their reports, so
/// that the figures agree.
///
/// ```swift
/// let comparison = ReportComparison(before: report, after: try Report(run))
/// print(comparison.text(width: 100, colour: false))
/// ```
public struct ReportComparison: Sendable {
    let before: Report
    let after: Report

    /// - Parameters:
    ///   - before: the run to compare with, usually an earlier one.
    ///   - after: the run that the comparison is about.
    public init(before: Report, after: Report) { (self.before, self.after) = (before, after) }

    /// A figure of both.
    struct Row: Sendable {
        /// The section it belongs to; rows of a section are adjacent.
        var section: String
        var name: String
        /// As the page of a report calls it, without the words of files and programs.
        var title: HTML
        /// As in the JSON report, with slashes between members.
        var path: String
        /// nil where a run has none.
        var before: Int?
        var after: Int?
        /// Parts of the audience, or of the rows.
        var beforeShare: Double?
        var afterShare: Double?

        var change: Int? { before.flatMap { before in after.map { $0 - before } } }
    }

    /// The most names that one section shows: there may be many languages, reasons and variants.
    private static let shownNames = 40

    var rows: [Row] {
        let guide = after.guide
        var rows = [
            row("Audience", name: "rows", title: "Rows of the export", path: "rows", { $0.plan.rows }),
            row(
                "Audience", name: "audience", title: "\(TextFormat.capitalized(after.service.recipientNoun))s",
                path: "audience",
                { $0.plan.audience }),
        ]
        rows += Outcome.allCases.map { outcome in
            row(
                "Outcomes", name: outcome.name, title: "\(guide.title(outcome))", path: "outcomes/\(outcome.name)",
                { $0.count(outcome) },
                of: { $0.plan.audience })
        }
        rows += serviceRows
        rows += named("Skipped rows", path: "skipped", { $0.skipped.map { ($0.name, $0.rows) } }, of: { $0.plan.rows })
        { name in
            SkipReason(rawValue: name).map { "\(TextFormat.capitalized(guide.title(skipped: $0)))" }
        }
        rows += named(
            "Reasons", path: "reasons", { $0.reasons.map { ($0.name, $0.recipients) } }, of: { $0.plan.audience })
        rows += named(
            "Languages", path: "languages", { $0.languages.map { ($0.name, $0.audience) } }, of: { $0.plan.audience },
            suffix: "/audience",
            title: LanguageName.html)
        rows += named(
            "Variants", path: "variants", { $0.variants.map { ($0.name, $0.audience) } }, of: { $0.plan.audience },
            suffix: "/audience")
        rows += [
            row("Speed", name: "pushes sent", title: "Pushes sent", path: "attempts", { $0.figures.attempts }),
            row(
                "Speed", name: "average a second", title: "Pushes a second, on average", path: "rate/mean_per_second",
                { $0.meanPerSecond }),
            row(
                "Speed", name: "peak a second", title: "Pushes in the busiest second", path: "rate/peak_per_second",
                { $0.peakPerSecond }),
            latency("p50", of: "half", { $0.figures.latency?.p50 }),
            latency("p90", of: "90 %", { $0.figures.latency?.p90 }),
            latency("p99", of: "99 %", { $0.figures.latency?.p99 }),
        ]
        return rows
    }

    private func latency(_ name: String, of share: String, _ figure: (Report) -> Int?) -> Row {
        row(
            "Speed", name: "latency \(name), ms", title: "Milliseconds until \(share) of the answers had come",
            path: "latency_ms/\(name)",
            figure)
    }

    /// The displayed outcomes: without those that calls to a service's own audience never have.
    private var shownRows: [Row] {
        rows.filter { row in
            row.path != "outcomes/\(Outcome.invalidToken.name)" || before.isShown(.invalidToken)
                || after.isShown(.invalidToken)
        }
    }

    /// The outcomes of every service that either run reached devices through, where one of them
    /// went through several.
    private var serviceRows: [Row] {
        servicesOfEither.flatMap { name, displayName in
            func own(_ report: Report) -> ServiceFigures? { ServiceFigures(report, name) }
            let audience = row(
                "Services", name: "\(displayName), audience", path: "services/\(name)/audience", { own($0)?.audience },
                of: { $0.plan.audience })
            return [audience]
                + Outcome.allCases.map { outcome in
                    row(
                        "Services", name: "\(displayName), \(outcome.name)",
                        title: "\(displayName), \(after.guide.title(outcome).lowercased())",
                        path: "services/\(name)/outcomes/\(outcome.name)",
                        { own($0).map { $0.outcomes[outcome, default: 0] } }, of: { own($0)?.audience ?? 0 })
                }
        }
    }

    /// The services of either run, as files and as sentences name them; empty when neither goes
    /// through several.
    private var servicesOfEither: [(name: String, displayName: String)] {
        guard !before.services.isEmpty || !after.services.isEmpty else { return [] }
        var names: [(name: String, displayName: String)] = []
        for (name, title) in [before, after].flatMap(ServiceFigures.names)
        where !names.contains(where: { $0.name == name }) {
            names.append((name, title))
        }
        return names
    }

    /// The part of a service in a run; for the run's only service, the whole run.
    private struct ServiceFigures {
        var audience: Int
        var outcomes: [Outcome: Int]

        /// nil when no device of the run goes through the service.
        init?(_ report: Report, _ name: String) {
            if let part = report.services.first(where: { $0.name == name }) {
                (audience, outcomes) = (part.audience, part.figures.outcomes)
            } else if !report.hasServices, report.service.name == name {
                (audience, outcomes) = (report.plan.audience, report.figures.outcomes)
            } else {
                return nil
            }
        }

        static func names(_ report: Report) -> [(String, String)] {
            report.hasServices
                ? report.services.map { ($0.name, $0.displayName) }
                : [(report.service.name, report.service.displayName)]
        }
    }

    private func row(
        _ section: String, name: String, title: HTML? = nil, path: String, _ figure: (Report) -> Int?,
        of total: ((Report) -> Int)? = nil
    ) -> Row {
        func share(_ report: Report) -> Double? {
            guard let total = total?(report), total > 0, let number = figure(report) else { return nil }
            return Double(number) / Double(total)
        }
        return Row(
            section: section, name: name, title: title ?? "\(TextStyle.safe(name))", path: path, before: figure(before),
            after: figure(after),
            beforeShare: share(before), afterShare: share(after))
    }

    /// A row for every name that either run has, the most frequent first.
    private func named(
        _ section: String, path: String, _ figures: (Report) -> [(String, Int)], of total: @escaping (Report) -> Int,
        suffix: String = "", title: (String) -> HTML? = { _ in nil }
    ) -> [Row] {
        let (first, second) = (Dictionary(figures(before)) { $1 }, Dictionary(figures(after)) { $1 })
        let names = Set(first.keys).union(second.keys).sorted {
            (max(first[$1] ?? 0, second[$1] ?? 0), $0) < (max(first[$0] ?? 0, second[$0] ?? 0), $1)
        }
        return names.prefix(Self.shownNames).map { name in
            row(
                section, name: name, title: title(name), path: "\(path)/\(name)\(suffix)",
                { ($0.plan.id == before.plan.id ? first : second)[name, default: 0] }, of: total)
        }
    }

    // MARK: - In words

    /// What differs, the most important first; at least one sentence.
    var sentences: [String] {
        var sentences: [String] = []
        let (then, now) = (before.plan.audience, after.plan.audience)
        if before.plan.app != after.plan.app {
            sentences.append("The runs are of two apps: \(before.plan.app) and \(after.plan.app).")
        }
        if before.plan.campaign != after.plan.campaign {
            sentences.append("The runs are of two campaigns: \(before.plan.campaign) and \(after.plan.campaign).")
        }
        sentences.append(audienceSentence(then, now: now))
        if before.status.startedAt == nil || after.status.startedAt == nil {
            let names = [before, after].filter { $0.status.startedAt == nil }.map(\.plan.id)
            sentences.append("Not sent yet: \(names.joined(separator: ", ")).")
            return sentences
        }
        sentences += outcomeSentences(then, now: now)
        sentences += serviceSentences
        sentences += reasonSentences
        sentences += skipSentences
        if let first = before.milliseconds, let second = after.milliseconds {
            let (old, new) = (
                TextFormat.duration(seconds: Double(first) / 1000), TextFormat.duration(seconds: Double(second) / 1000)
            )
            sentences.append(old == new ? "Both took \(new)." : "It took \(new) instead of \(old).")
        }
        if let first = before.figures.latency, let second = after.figures.latency, first.p50 != second.p50 {
            sentences.append(
                "Half of the answers came within \(TextFormat.count(second.p50)) ms instead of \(TextFormat.count(first.p50))."
            )
        }
        return sentences
    }

    private func audienceSentence(_ then: Int, now: Int) -> String {
        let noun = after.service.recipientNoun
        guard before.service.recipientNoun == noun else {
            return "The first was \(before.service.recipients(then)), the second \(after.service.recipients(now))."
        }
        guard then != now else {
            return "Both \(after.words("went to", ofCalls: "were")) \(TextFormat.count(now)) \(noun)s."
        }
        if then > 0, now >= 3 * then {
            return
                "The audience is \(TextFormat.count(now / then)) times as large: \(TextFormat.count(now)) \(noun)s instead of \(TextFormat.count(then))."
        }
        let word = now > then ? "grew" : "shrank"
        let change = then == 0 ? "" : " by \(TextFormat.percent(Double(abs(now - then)) / Double(then)))"
        return "The audience \(word)\(change), from \(TextFormat.count(then)) to \(TextFormat.count(now)) \(noun)s."
    }

    private func outcomeSentences(_ then: Int, now: Int) -> [String] {
        guard then > 0, now > 0 else { return [] }
        let words: [(Outcome, String)] = [
            (.accepted, "were accepted"), (.invalidToken, "no longer have the app"), (.rejected, "were rejected"),
            (.failed, "failed"),
            (.unknown, "are unknown"), (.unsent, after.words("were never sent to", ofCalls: "were never made")),
        ]
        return words.compactMap { outcome, words in
            let (first, second) = (
                Double(before.count(outcome)) / Double(then), Double(after.count(outcome)) / Double(now)
            )
            let (old, new) = (TextFormat.percent(first), TextFormat.percent(second))
            guard old != new else {
                return outcome == .accepted ? "\(new) \(words) both times." : nil
            }
            return "\(new) \(words), instead of \(old)."
        }
    }

    /// What was accepted through each service, where one of the runs has several.
    private var serviceSentences: [String] {
        servicesOfEither.compactMap { name, title in
            func share(_ report: Report) -> String? {
                ServiceFigures(report, name).flatMap { part in
                    part.audience == 0
                        ? nil : TextFormat.percent(Double(part.outcomes[.accepted, default: 0]) / Double(part.audience))
                }
            }
            switch (share(before), share(after)) {
            case (nil, nil): return nil
            case (let old?, nil): return "Only the first went through \(title): \(old) were accepted."
            case (nil, let new?): return "Only the second went through \(title): \(new) were accepted."
            case (let old?, let new?):
                return old == new
                    ? "\(title) accepted \(new) both times." : "\(title) accepted \(new), instead of \(old)."
            }
        }
    }

    private var reasonSentences: [String] {
        let (first, second) = (before.reasonCounts, after.reasonCounts)
        return [(second, first, "New"), (first, second, "Gone")].compactMap { these, others, word in
            let names = these.filter { others[$0.key, default: 0] == 0 }.sorted {
                ($1.value, $0.key) < ($0.value, $1.key)
            }
            guard !names.isEmpty else { return nil }
            let list = names.prefix(5).map { "\(TextStyle.safe($0.key)) (\(TextFormat.count($0.value)))" }
            return
                "\(word) among the reasons: \(list.joined(separator: ", "))\(names.count > 5 ? " and \(names.count - 5) more" : "")."
        }
    }

    /// Reasons whose share of the rows moved by five points or more.
    private var skipSentences: [String] {
        guard before.plan.rows > 0, after.plan.rows > 0 else { return [] }
        return SkipReason.allCases.compactMap { reason in
            let first = Double(before.plan.skipped[reason, default: 0]) / Double(before.plan.rows)
            let second = Double(after.plan.skipped[reason, default: 0]) / Double(after.plan.rows)
            guard abs(second - first) >= 0.05 else { return nil }
            return
                "\(TextFormat.percent(second)) of the rows were skipped as \(reason.rawValue), instead of \(TextFormat.percent(first))."
        }
    }

    // MARK: - Forms

    /// The document of `report --compare --format json`: `before` and `after`, each as
    /// `report --format json` has it, `differences` with what changed of each figure (null where a
    /// run has none), and `in_words`.
    public var json: JSONValue {
        func number(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
        let differences = rows.map { row in
            (
                row.path,
                JSONValue.object(pairs: [
                    ("before", number(row.before)), ("after", number(row.after)), ("change", number(row.change)),
                ])
            )
        }
        return .object(pairs: [
            ("before", before.json), ("after", after.json), ("differences", .object(pairs: differences)),
            ("in_words", .array(sentences.map { .string($0) })),
        ])
    }

    /// Text for a person.
    /// - Parameters:
    ///   - width: of the terminal, in columns; at least 60 are assumed.
    ///   - colour: whether ANSI colours may be used.
    public func text(width: Int, colour: Bool) -> String {
        let style = TextStyle(width: width, colour: colour)
        var lines = ["Before  \(Self.name(before))", "After   \(Self.name(after))", ""]
        lines += sentences.flatMap { style.wrapped($0, indent: 0) }
        var section = ""
        let rows = shownRows
        let names = rows.map { TextStyle.safe($0.name).count }.max() ?? 0
        for row in rows {
            if row.section != section {
                section = row.section
                let title = TextFormat.padded(section, to: names + 2)
                lines += [
                    "",
                    style.paint(
                        "\(title)  \(TextFormat.aligned("before", to: 21))  \(TextFormat.aligned("after", to: 21))  change",
                        .bold),
                ]
            }
            let cells = [Self.cell(row.before, share: row.beforeShare), Self.cell(row.after, share: row.afterShare)].map
            {
                TextFormat.aligned($0, to: 21)
            }
            var line = "  \(TextFormat.padded(TextStyle.safe(row.name), to: names))  \(cells.joined(separator: "  "))"
            line += row.change.map { $0 == 0 ? "" : "  \(Self.signed($0))" } ?? ""
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    /// What a page shows: the differences in words, and a table of all figures.
    public var html: HTML {
        let words: [HTML] = sentences.map { "<li>\($0)</li>" }
        var section = ""
        let lines: [HTML] = shownRows.map { row in
            let head: HTML =
                row.section == section ? "" : "<tr><th scope=\"rowgroup\" colspan=\"4\">\(row.section)</th></tr>"
            section = row.section
            return """
                \(head)<tr><th scope="row" dir="auto">\(row.title)</th>
                <td data-name="Before" class="number">\(Self.cell(row.before, share: row.beforeShare))</td>
                <td data-name="After" class="number">\(Self.cell(row.after, share: row.afterShare))</td>
                <td data-name="Change" class="number">\(row.change.map { $0 == 0 ? "" : Self.signed($0) } ?? "")</td></tr>
                """
        }
        return """
            <ul>\(words)</ul>
            <table class="rows"><thead><tr><th scope="col">Figure</th><th scope="col" class="number">Before</th>
            <th scope="col" class="number">After</th><th scope="col" class="number">Change</th></tr></thead><tbody>\(lines)</tbody></table>
            """
    }

    private static func name(_ report: Report) -> String {
        let marks =
            report.status.state.rawValue + (report.plan.isTest ? ", test" : "") + (report.isPruned ? ", pruned" : "")
        return "\(report.plan.id) (\(marks), planned \(TextStyle.moment(report.plan.plannedAt)))"
    }

    private static func cell(_ number: Int?, share: Double?) -> String {
        guard let number else { return "-" }
        return TextFormat.count(number) + (share.map { " \(TextFormat.aligned(TextFormat.percent($0), to: 7))" } ?? "")
    }

    private static func signed(_ number: Int) -> String { (number > 0 ? "+" : "") + TextFormat.count(number) }

    /// One page, as `ReportPage` makes them.
    public func page(madeBy: String, madeAt: Timestamp) -> HTML {
        let words: [HTML] = sentences.map { "<li>\($0)</li>" }
        let rows = shownRows
        var sections: [String] = []
        for row in rows where sections.last != row.section { sections.append(row.section) }
        let tables: [HTML] = sections.map { section in
            let lines = rows.filter { $0.section == section }.map { row in
                DataTable.Row(
                    name: section == "Languages"
                        ? LanguageName.html(row.name) : "\(TextStyle.safe(row.name, limit: 200))",
                    cells: [
                        Self.figure("before/\(row.path)", number: row.before, share: row.beforeShare),
                        Self.figure("after/\(row.path)", number: row.after, share: row.afterShare),
                        "\(row.change.map { $0 == 0 ? "=" : Self.signed($0) } ?? "–")",
                    ])
            }
            let table = DataTable(columns: ["", "before", "after", "change"], rows: lines)
            return "<section class=\"panel\"><h2>\(section)</h2>\(table.html)</section>"
        }
        let runs = [("Before", before), ("After", after)].map { name, report in
            (name, "\(Self.name(report)) \(EnvironmentBadge.html(of: report.plan))" as HTML)
        }
        return PageStyle.document(
            title: "\(before.plan.id) and \(after.plan.id)", style: "",
            """
            <header>
            <p class="eyebrow">Two runs compared</p>
            <h1 dir="auto">\(after.plan.campaign)</h1>
            \(ReportPage.facts(runs))
            </header>
            <section class="panel"><h2>What differs</h2><ul>\(words)</ul>
            <p class="note">Shares of outcomes, reasons, languages and variants are of the run’s audience, those of skipped rows of the export’s rows. The page of each run explains its figures.</p></section>
            \(tables)
            <footer>Made by \(madeBy) at \(ReportPage.moment(madeAt)) · times are UTC</footer>
            """)
    }

    private static func figure(_ path: String, number: Int?, share: Double?) -> HTML {
        guard let number else { return "–" }
        let part: HTML = share.map { " <span class=\"note\">\(TextFormat.percent($0))</span>" } ?? ""
        return "<span data-figure=\"\(path)\" data-value=\"\(number)\">\(TextFormat.count(number))</span>\(part)"
    }
}
