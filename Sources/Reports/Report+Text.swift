import Base
import Runs

extension Report {
    /// How many reasons the text names one by one.
    private static let shownReasons = 12

    /// Text for a person.
    /// - Parameters:
    ///   - width: of the terminal, in columns; at least 60 are assumed.
    ///   - colour: whether ANSI colours may be used.
    public func text(width: Int, colour: Bool) -> String {
        let style = TextStyle(width: width, colour: colour)
        var lines = style.wrapped(headline, indent: 0).map { style.paint($0, .bold) }
        lines.append("")
        lines += facts(style)
        lines += section("Skipped rows", skippedTable, style)
        lines += section("Outcomes", outcomeTable, style)
        lines += section("Reasons", reasonTable, style)
        let hidden = reasons.dropFirst(Self.shownReasons)
        if !hidden.isEmpty {
            let recipients = hidden.reduce(0) { $0 + $1.recipients }
            lines.append("  and \(hidden.count) more reasons for \(TextStyle.thousands(recipients)) devices; `--format json` names them all")
        }
        let speed = speedFacts
        if !speed.isEmpty { lines += [""] + table(speed, style) }
        lines += ["", "Run file: \(path)"]
        return lines.joined(separator: "\n")
    }

    /// What came of it, in one sentence or two.
    var headline: String {
        let all = TextStyle.thousands(plan.audience)
        let accepted = TextStyle.thousands(count(.accepted))
        guard plan.audience > 0 else { return "Nobody was in the audience; nothing was sent." }
        let share = "\(accepted) of \(all) pushes (\(TextStyle.percent(count(.accepted), of: plan.audience)))"
        switch status.state {
        case .planned: return "Planned, not sent yet: \(all) \(plan.audience == 1 ? "device is" : "devices are") waiting."
        case .running: return "Still running: APNs accepted \(share) so far."
        case .paused: return "Paused: APNs accepted \(share) so far."
        case .stopped: return "Stopped early: APNs accepted \(share); \(neverSent)."
        case .cancelled: return "Cancelled: APNs accepted \(share); \(neverSent)."
        case .finished:
            if count(.accepted) == plan.audience { return plan.audience == 1 ? "APNs accepted the push." : "APNs accepted all \(all) pushes." }
            return "APNs accepted \(share). \(remainder)"
        }
    }

    private var neverSent: String { "\(TextStyle.thousands(count(.unsent))) were never sent" }

    /// What became of those that were not accepted, the most frequent first.
    private var remainder: String {
        let words: [(Outcome, String)] = [
            (.invalidToken, "went to devices that no longer have the app"), (.rejected, "were rejected"), (.failed, "failed"),
            (.unknown, "got no answer"), (.unsent, "were never sent"),
        ]
        let parts = words.filter { count($0.0) > 0 }.sorted { count($0.0) > count($1.0) }
            .map { "\(TextStyle.thousands(count($0.0))) \($0.1)" }
        guard parts.count > 1, let last = parts.last else { return (parts.first ?? "") + "." }
        return parts.dropLast().joined(separator: ", ") + " and \(last)."
    }

    private func facts(_ style: TextStyle) -> [String] {
        var facts: [(String, String)] = [("Campaign", plan.campaign), ("App", plan.app), ("Run", plan.id), ("State", status.state.rawValue)]
        if !status.reason.isEmpty { facts.append(("Because", TextStyle.safe(status.reason, limit: 2000))) }
        facts.append(("Planned", TextStyle.moment(plan.plannedAt)))
        if let start = status.startedAt { facts.append(("Started", TextStyle.moment(start))) }
        if let end = status.finishedAt {
            var text = TextStyle.moment(end)
            if let start = status.startedAt {
                text += ", after \(TextStyle.duration(milliseconds: max(0, end.epochMilliseconds - start.epochMilliseconds)))"
            }
            facts.append(("Ended", text))
        }
        let devices = "\(TextStyle.thousands(plan.audience)) \(plan.audience == 1 ? "device" : "devices")"
        facts.append(("Audience", "\(devices) from \(TextStyle.thousands(plan.rows)) \(plan.rows == 1 ? "row" : "rows")"))
        return table(facts, style)
    }

    private var speedFacts: [(String, String)] {
        var facts: [(String, String)] = []
        if figures.attempts > 0 {
            let repeats = figures.attempts - figures.attempted
            let text = TextStyle.thousands(figures.attempts)
            facts.append(("Pushes sent", repeats > 0 ? "\(text), \(TextStyle.thousands(repeats)) of them again" : text))
        }
        if let mean = meanPerSecond, let peak = peakPerSecond {
            facts.append(("Rate", "\(TextStyle.thousands(mean)) a second on average, \(TextStyle.thousands(peak)) in the busiest second"))
        } else if let peak = peakPerSecond, peak > 0 {
            facts.append(("Rate", "\(TextStyle.thousands(peak)) in the busiest second"))
        }
        if let latency = figures.latency {
            let texts = [latency.p50, latency.p90, latency.p99, latency.max].map(TextStyle.thousands)
            facts.append(("Latency", "half within \(texts[0]) ms, 90 % within \(texts[1]), 99 % within \(texts[2]), slowest \(texts[3])"))
        }
        return facts
    }

    private func table(_ facts: [(String, String)], _ style: TextStyle) -> [String] {
        let names = facts.map(\.0.count).max() ?? 0
        return facts.flatMap { name, value -> [String] in
            let lines = style.wrapped(value, indent: names + 4)
            let head = "  \(TextStyle.padded(name, names))  "
            guard let first = lines.first else { return [] }
            return [head + first.dropFirst(names + 4)] + lines.dropFirst()
        }
    }

    private func section(_ title: String, _ table: BarTable, _ style: TextStyle) -> [String] {
        guard !table.rows.isEmpty else { return [] }
        return ["", style.paint(title, .bold)] + table.lines(style)
    }

    private var skippedTable: BarTable {
        BarTable(rows: skipped.map { BarTable.Row(name: $0.name, number: $0.rows, note: OutcomeGuide.note(skipped: $0.name)) })
    }

    private var outcomeTable: BarTable {
        let rows = Outcome.allCases.map { outcome in
            BarTable.Row(name: outcome.name, number: count(outcome), ink: OutcomeGuide.ink(outcome), note: OutcomeGuide.note(outcome))
        }
        return BarTable(rows: rows, whole: plan.audience)
    }

    private func explanation(of reason: String) -> String {
        if let known = APNsReason.explanation(of: reason) { return known }
        if reason.hasPrefix("HTTP") { return "APNs answered with this status and gave no reason." }
        return "Volley does not know this reason. Look for it in Apple's \"Handling notification responses from APNs\"."
    }

    private var reasonTable: BarTable {
        BarTable(
            rows: reasons.prefix(Self.shownReasons).map {
                BarTable.Row(name: TextStyle.safe($0.name), number: $0.recipients, explanation: explanation(of: $0.name))
            })
    }
}
