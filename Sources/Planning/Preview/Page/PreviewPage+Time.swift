import Base
import Reports

/// When it goes out, and what changed since the last run.
extension PreviewPage {
    var schedule: HTML {
        guard let schedule = preview.schedule else { return "" }
        let details: [HTML] = schedule.details.map { "<li>\($0)</li>" }
        let list: HTML = details.isEmpty ? "" : "<ul>\(details)</ul>"
        return """
            <section class="panel"><h2>When it goes out</h2>
            <p>\(schedule.headline)</p>
            \(list)</section>
            """
    }

    var comparison: HTML {
        guard let comparison = preview.comparison, !comparison.shiftTexts.isEmpty else { return "" }
        let shifts: [HTML] = comparison.shiftTexts.map { "<li>\($0)</li>" }
        return """
            <section class="panel short"><h2>Since the last run</h2>
            <p>\(comparison.text), planned at \(moment(comparison.plannedAt)). Reasons that left out a larger or smaller share of the rows than in that run:</p>
            <ul>\(shifts)</ul></section>
            """
    }
}
