import Base
import PushServices
import Runs

/// When it happened.
extension ReportPage {
    var timeline: HTML {
        guard let timeline = report.figures.timeline, !timeline.steps.isEmpty else { return "" }
        let length = Self.duration(timeline.secondsPerStep)
        let table: HTML = """
            <p class="note">Devices by the time their outcome was known, in steps of \(length).</p>
            \(timeTable(timeline))
            """
        return """
            <section class="panel short">
            <h2>Over time</h2>
            \(chart(timeline, length: length))
            \(Fold("The same as a table", table).html)
            </section>
            """
    }

    /// Everything on one scale: what was lost beside what was not.
    private func chart(_ timeline: RunTimeline, length: String) -> HTML {
        let outcomes = Outcome.allCases.filter { outcome in outcome != .unsent && timeline.steps.contains { $0[outcome.rawValue] > 0 } }
        let last = timeline.steps.count - 1
        let columns = timeline.steps.enumerated().map { place, step in
            let words = outcomes.filter { step[$0.rawValue] > 0 }.map { "\(TextFormat.count(step[$0.rawValue])) \($0.name)" }
            return Chart.Column(
                title: "\(clock(timeline, step: place)): \(words.joined(separator: ", "))",
                parts: outcomes.map { Chart.Part(value: step[$0.rawValue], ink: $0.name) })
        }
        let heights = columns.map(\.height)
        let (total, highest) = (TextFormat.count(heights.reduce(0, +)), heights.max() ?? 0)
        let at = clock(timeline, step: heights.firstIndex(of: highest) ?? 0)
        // The middle mark fits only where there are as many columns left of it as right of it.
        let marks = [0] + (columns.count % 2 == 0 && columns.count > 2 ? [columns.count / 2] : []) + [columns.count]
        let legend = Chart.legend(
            outcomes.map { ($0, "\(report.guide.title($0))" as HTML) })
        return """
            \(legend)
            \(Chart(
                title: "Answers over time",
                description: "\(total) \(noun)s from \(clock(timeline, step: 0)) to \(clock(timeline, step: last)); most of them, \(TextFormat.count(highest)) in \(length), at \(at).",
                unit: "Devices in each step of \(length)", columns: columns, marks: marks.map { clock(timeline, step: $0) },
                note: "Each column is \(length); the highest, at \(at), is \(report.service.recipients(highest)) of \(total).", name: "timeline"
            ).html)
            """
    }

    private func timeTable(_ timeline: RunTimeline) -> HTML {
        let shown = Outcome.allCases.filter { outcome in outcome != .unsent && timeline.steps.contains { $0[outcome.rawValue] > 0 } }
        let rows = timeline.steps.enumerated().filter { $0.element.contains { $0 > 0 } }.map { place, step in
            let begin = timeline.begin(of: place).description
            return DataTable.Row(
                name: "\(clock(timeline, step: place))",
                cells: shown.map { figure("timeline/steps/\(begin)/\($0.name)", number: step[$0.rawValue]) })
        }
        return DataTable(columns: ["From (UTC)"] + shown.map(\.name), rows: rows).html
    }

    /// The time of day, with the date where a run took more than one.
    private func clock(_ timeline: RunTimeline, step: Int) -> String {
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
        return "\(number) \(TextFormat.plural(number, one: unit))"
    }
}
