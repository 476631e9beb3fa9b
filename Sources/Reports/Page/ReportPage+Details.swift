import Base
import PushServices
import Runs

/// Facts that few people need, folded: how fast it went, how often devices were sent to, and the
/// run's own facts.
extension ReportPage {
    var details: HTML {
        """
        <section class="panel folds"><h2>For operators</h2>
        \(FoldedSection("How fast it went", speed).html)
        \(FoldedSection("How often \(noun)s were \(report.service.choosesDevices ? "made" : "sent to")", attempts).html)
        \(FoldedSection("About this run", Self.facts(facts)).html)
        </section>
        """
    }

    private var speed: HTML {
        guard report.figures.attempts > 0 else { return "" }
        let figures = report.figures
        let repeats = figures.attempts - figures.attempted
        var facts: [(String, HTML)] = [
            (
                "Pushes sent",
                "\(figure("attempts", number: figures.attempts))\(repeats > 0 ? ", \(TextFormat.count(repeats)) of them again: \(report.takers) had no time, or a connection broke" : ", each once")"
            )
        ]
        if let mean = report.meanPerSecond {
            facts.append(
                (
                    "Mean rate",
                    "\(figure("rate/mean_per_second", number: mean)) \(noun)s a second, from start to end with all pauses"
                ))
        }
        if let peak = report.peakPerSecond, peak > 0 {
            facts.append(
                ("Peak rate", "\(figure("rate/peak_per_second", number: peak)) \(noun)s in the busiest second"))
        }
        if let latency = figures.latency {
            facts.append(
                (
                    "Answers took",
                    """
                    half at most \(figure("latency_ms/p50", number: latency.p50)) ms, 90 % at most \(figure("latency_ms/p90", number: latency.p90)) ms, \
                    99 % at most \(figure("latency_ms/p99", number: latency.p99)) ms, the slowest \(figure("latency_ms/max", number: latency.max)) ms: \
                    from handing a push over to \(TextFormat.possessive(report.takers)) answer, not to the device
                    """
                ))
        }
        return "\(Self.facts(facts))\(latencies)"
    }

    private var latencies: HTML {
        let steps = report.latencySteps
        guard let first = steps.first, let last = steps.last else { return "" }
        let answers = steps.reduce(0) { $0 + $1.answers }
        let highest = steps.max { $0.answers < $1.answers } ?? first
        func name(_ step: String) -> String {
            step == "longer" ? "more than 30,000 ms" : "up to \(TextFormat.count(Int(step) ?? 0)) ms"
        }
        let items = steps.map { step in
            BarList.Item(
                "\(name(step.name))", figure("latency_histogram/\(step.name)", number: step.answers),
                share: Self.percent(step.answers, of: answers),
                parts: [.init(step.answers)])
        }
        let chart = Chart(
            title: "How long answers took",
            description:
                "\(TextFormat.count(answers)) answers, most of them (\(TextFormat.count(highest.answers))) \(name(highest.name)).",
            unit: "Answers by how long they took",
            columns: steps.map {
                Chart.Column(
                    title: "\(name($0.name)): \(TextFormat.count($0.answers))",
                    parts: [.init(value: $0.answers, ink: "answers")])
            },
            marks: steps.count > 1 ? [name(first.name), name(last.name)] : [name(first.name)],
            note:
                "Each column counts the answers that took longer than the column before it, and at most as long as its label says.",
            name: "latency")
        return "\(chart.html)\(BarList(items).html)"
    }

    private var attempts: HTML {
        let counts = report.attemptCounts
        guard !counts.isEmpty else { return "" }
        let total = counts.reduce(0) { $0 + $1.recipients }
        let items = counts.prefix(Self.shownRows).map { attempts, recipients in
            BarList.Item(
                attempts == 1 ? "once" : "\(TextFormat.count(attempts)) times",
                figure("attempts_by_count/\(attempts)", number: recipients),
                share: Self.percent(recipients, of: total), parts: [.init(recipients)])
        }
        return """
            <p class="note">More than once only where \(report.takers) asked for it, or the push had not reached it.</p>
            \(BarList(Array(items), whole: total).html)
            """
    }

    private var facts: [(name: String, value: HTML)] {
        let (plan, status) = (report.plan, report.status)
        var facts: [(String, HTML)] = [
            ("App", "\(plan.app)"), ("Run", "\(plan.id)"), ("State", "\(status.state.rawValue)"),
        ]
        if !badges.markup.isEmpty { facts.append(("Sent to", badges)) }
        if let first = plan.retryOf { facts.append(("Retry of", "\(first)")) }
        facts.append(("Planned", "\(Self.moment(plan.plannedAt))"))
        for (name, key) in [("Expires", "expires"), ("Priority", "priority"), ("Frequency", "frequency")] {
            if let words = plan.preview["in_words"]?[key]?.stringValue { facts.append((name, "\(words)")) }
        }
        if let approval = report.approval {
            facts.append(("Approved", "by \(approval.name), \(Self.moment(approval.approvedAt))"))
        }
        if let start = status.startedAt { facts.append(("Started", "\(Self.moment(start))")) }
        if let end = status.finishedAt {
            let isOdd = report.milliseconds == nil && status.startedAt != nil
            facts.append(("Ended", "\(Self.moment(end))\(isOdd ? "; the clock was set back meanwhile" : "")"))
        }
        if let prunedAt = report.prunedAt {
            facts.append(("Pruned", "\(Self.moment(prunedAt)); recipients were removed, figures are as they were"))
        }
        if let seconds = plan.preview["seconds_at_pace"]?.doubleValue {
            facts.append(("Promised", "\(TextFormat.duration(seconds: seconds)) at the pace it was planned with"))
        }
        if !plan.planHash.isEmpty { facts.append(("Plan hash", "\(String(plan.planHash.prefix(16)))")) }
        return facts
    }
}
