import Base
import Runs

/// When it happened, and how fast.
extension ReportPage {
    var timeline: HTML {
        guard let timeline = report.figures.timeline, !timeline.steps.isEmpty else { return "" }
        let length = Self.duration(timeline.secondsPerStep)
        let accepted = timeline.steps.map { $0[Outcome.accepted.rawValue] }
        let others = Outcome.allCases.filter { $0 != .accepted && $0 != .unsent }
        let trouble = timeline.steps.map { step in others.reduce(0) { $0 + step[$1.rawValue] } }
        let table: HTML = """
            <details><summary>The same as a table</summary>
            <p class="note">Devices by the moment at which it was known what became of them, in steps of \(length).</p>
            \(timeTable(timeline))</details>
            """
        return """
            <section>
            <h2>Over time</h2>
            \(accepted.contains { $0 > 0 } ? chart(timeline, "took-over", "Accepted by APNs over time", [.accepted], accepted, length) : "")
            \(trouble.contains { $0 > 0 } ? legend(others) : "")
            \(trouble.contains { $0 > 0 } ? chart(timeline, "others", "Not accepted, over time", others, trouble, length) : "")
            \(table)
            </section>
            """
    }

    private func chart(
        _ timeline: RunTimeline, _ name: String, _ title: String, _ outcomes: [Outcome], _ heights: [Int], _ length: String
    ) -> HTML {
        let last = timeline.steps.count - 1
        let (first, end) = (clock(timeline, 0), clock(timeline, last))
        let highest = heights.max() ?? 0
        let at = clock(timeline, heights.firstIndex(of: highest) ?? 0)
        let columns = timeline.steps.enumerated().map { place, step in
            let words = outcomes.filter { step[$0.rawValue] > 0 }.map { "\(TextFormat.count(step[$0.rawValue])) \($0.name)" }
            return Chart.Column(
                title: "\(clock(timeline, place)): \(words.joined(separator: ", "))",
                parts: outcomes.map { Chart.Part(value: step[$0.rawValue], ink: $0.name) })
        }
        let total = TextFormat.count(heights.reduce(0, +))
        return Chart(
            title: title,
            description: "\(total) devices from \(first) to \(end); most of them, \(TextFormat.count(highest)) in \(length), at \(at).",
            columns: columns, ends: (first, end),
            note:
                "\(title): \(total) devices. Each column is \(length), and the highest, at \(at), stands for \(TextFormat.count(highest)).",
            name: name
        ).html
    }

    private func legend(_ outcomes: [Outcome]) -> HTML {
        let items: [HTML] = outcomes.filter { report.count($0) > 0 }.map { "<li>\(Chart.swatch($0))\($0.name)</li>" }
        return "<ul class=\"legend\">\(items)</ul>"
    }

    private func timeTable(_ timeline: RunTimeline) -> HTML {
        let shown = Outcome.allCases.filter { outcome in outcome != .unsent && timeline.steps.contains { $0[outcome.rawValue] > 0 } }
        let heads: [HTML] = shown.map { "<th scope=\"col\">\($0.name)</th>" }
        let rows: [HTML] = timeline.steps.enumerated().filter { $0.element.contains { $0 > 0 } }.map { place, step in
            let begin = timeline.begin(of: place).description
            let cells: [HTML] = shown.map { "<td>\(figure("timeline/steps/\(begin)/\($0.name)", step[$0.rawValue]))</td>" }
            return "<tr><th scope=\"row\">\(clock(timeline, place))</th>\(cells)</tr>"
        }
        return """
            <div class="scroll"><table><thead><tr><th scope="col">From (UTC)</th>\(heads)</tr></thead><tbody>\(rows)</tbody></table></div>
            """
    }

    /// The time of day, with the date where a run took more than one.
    private func clock(_ timeline: RunTimeline, _ step: Int) -> String {
        let text = Self.moment(timeline.begin(of: step))
        let hasDays = Self.moment(timeline.begin(of: 0)).prefix(10) != Self.moment(timeline.begin(of: timeline.steps.count - 1)).prefix(10)
        return String(hasDays ? text.dropLast(3) : text.dropFirst(11))
    }

    /// `1 second`, `2 minutes`
    private static func duration(_ seconds: Int) -> String {
        let (number, unit) =
            seconds % 86_400 == 0
            ? (seconds / 86_400, "day")
            : seconds % 3600 == 0 ? (seconds / 3600, "hour") : seconds % 60 == 0 ? (seconds / 60, "minute") : (seconds, "second")
        return "\(number) \(unit)\(number == 1 ? "" : "s")"
    }

    // MARK: - Speed

    var speed: HTML {
        guard report.figures.attempts > 0 else { return "" }
        let figures = report.figures
        let repeats = figures.attempts - figures.attempted
        var facts: [HTML] = [
            """
            <dt>Pushes sent</dt><dd>\(figure("attempts", figures.attempts))\(repeats > 0 ? ", \(TextFormat.count(repeats)) of them again: APNs had no time, or a connection broke" : ", each once")</dd>
            """
        ]
        if let mean = report.meanPerSecond {
            facts.append(
                "<dt>Mean rate</dt><dd>\(figure("rate/mean_per_second", mean)) devices a second, from start to end with all pauses</dd>")
        }
        if let peak = report.peakPerSecond, peak > 0 {
            facts.append("<dt>Peak rate</dt><dd>\(figure("rate/peak_per_second", peak)) devices in the busiest second of the clock</dd>")
        }
        if let latency = figures.latency {
            facts.append(
                """
                <dt>Answers took</dt><dd>half at most \(figure("latency_ms/p50", latency.p50)) ms, 90 % at most \(figure("latency_ms/p90", latency.p90)) ms, \
                99 % at most \(figure("latency_ms/p99", latency.p99)) ms, the slowest \(figure("latency_ms/max", latency.max)) ms: \
                from handing a push over to APNs’ answer, not to the device</dd>
                """)
        }
        return """
            <section>
            <h2>How fast, and how often</h2>
            <dl class="facts">\(facts)</dl>
            \(latencyChart)
            \(attemptTable)
            </section>
            """
    }

    private var latencyChart: HTML {
        let steps = report.latencySteps
        guard let first = steps.first, let last = steps.last else { return "" }
        let answers = steps.reduce(0) { $0 + $1.answers }
        let highest = steps.max { $0.answers < $1.answers } ?? first
        func name(_ step: String) -> String { step == "longer" ? "more than 30,000 ms" : "up to \(TextFormat.count(Int(step) ?? 0)) ms" }
        let rows: [HTML] = steps.map { step in
            "<tr><th scope=\"row\">\(name(step.name))</th>\(cells("latency_histogram/\(step.name)", step.answers, of: answers))</tr>"
        }
        let chart = Chart(
            title: "How long answers took",
            description: "\(TextFormat.count(answers)) answers, most of them (\(TextFormat.count(highest.answers))) \(name(highest.name)).",
            columns: steps.map {
                Chart.Column(title: "\(name($0.name)): \(TextFormat.count($0.answers))", parts: [.init(value: $0.answers, ink: "answers")])
            },
            ends: (name(first.name), name(last.name)),
            note:
                "How long APNs took to answer. Each column counts the answers that took longer than the one before it says, and at most as long as it says itself; "
                + "the highest is \(name(highest.name)), with \(TextFormat.count(highest.answers)) of \(TextFormat.count(answers)).",
            name: "latency")
        return """
            <div style="margin-top:1rem">\(chart.html)</div>
            <details><summary>The same as a table</summary><table><caption>Answers by how long they took</caption><tbody>\(rows)</tbody></table></details>
            """
    }

    private var attemptTable: HTML {
        let counts = report.attemptCounts
        guard !counts.isEmpty else { return "" }
        let total = counts.reduce(0) { $0 + $1.recipients }
        let rows: [HTML] = counts.prefix(Self.shownRows).map { attempts, recipients in
            let name = attempts == 1 ? "once" : "\(TextFormat.count(attempts)) times"
            return "<tr><th scope=\"row\">\(name)</th>\(cells("attempts_by_count/\(attempts)", recipients, of: total))</tr>"
        }
        return """
            <h3 style="margin-top:1rem">Attempts</h3>
            <p class="note">How often each device was sent to until its outcome was known. More than once only where APNs asked for it, or nothing had reached it.</p>
            <table><caption>Devices by attempts</caption><tbody>\(rows)</tbody></table>
            """
    }
}
