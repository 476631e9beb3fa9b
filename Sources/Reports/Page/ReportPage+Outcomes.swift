import Base
import Runs

/// What became of the pushes, and why.
extension ReportPage {
    /// Rows of a table that a person can still read.
    static let shownRows = 100

    var outcomes: HTML {
        guard hasBegun, report.plan.audience > 0 else { return "" }
        let total = report.plan.audience
        let rows: [HTML] = Outcome.allCases.map { outcome in
            """
            <tr><th scope="row">\(Chart.swatch(outcome))\(outcome.name)</th>\(cells("outcomes/\(outcome.name)", report.count(outcome), of: total))</tr>
            \(explanation(OutcomeGuide.meaning(outcome, in: state, doubtsTokens: report.doubtsTokens)))
            """
        }
        return """
            <section>
            <h2>What became of the pushes</h2>
            \(whole)
            <table><caption>Every planned device ends in exactly one of these; together they are the \(TextFormat.count(total)) of the audience.</caption><tbody>
            \(rows)
            </tbody></table>
            </section>
            """
    }

    /// The audience as one bar.
    private var whole: HTML {
        let total = report.plan.audience
        var left = 0.0
        let parts = Outcome.allCases.filter { report.count($0) > 0 }
        let rects: [HTML] = parts.map { outcome in
            // Half a hundredth is still seen.
            let width = max(5, Double(report.count(outcome)) / Double(total) * 1000)
            defer { left += width }
            return """
                <rect class="\(outcome.name)" x="\(String(Int(left)))" y="0" width="\(String(Int(width.rounded(.up))))" height="24"><title>\(outcome.name): \(TextFormat.count(report.count(outcome)))</title></rect>
                """
        }
        let words = parts.map { "\($0.name) \(percent(report.count($0)))" }.joined(separator: ", ")
        return """
            <svg class="whole" viewBox="0 0 \(String(Int(left.rounded(.up)))) 24" preserveAspectRatio="none" role="img" aria-label="Outcomes: \(words)">\(rects)</svg>
            """
    }

    var reasons: HTML {
        let all = report.reasons
        guard !all.isEmpty else { return "" }
        let total = all.reduce(0) { $0 + $1.recipients }
        let rows: [HTML] = all.prefix(Self.shownRows).map { reason in
            """
            <tr><th scope="row"><code dir="auto">\(TextStyle.safe(reason.name, limit: 200))</code></th>\(cells("reasons/\(reason.name)", reason.recipients, of: total))</tr>
            \(explanation(report.explanation(of: reason.name)))
            """
        }
        let hidden = all.dropFirst(Self.shownRows)
        let more: HTML =
            hidden.isEmpty
            ? ""
            : "<tr class=\"why\"><td colspan=\"4\">and \(TextFormat.count(hidden.count)) more reasons; the JSON report names them all</td></tr>"
        return """
            <section>
            <h2>Why some did not get it</h2>
            <table><caption>What APNs, or Volley itself, gave as the reason; shares are of all that have one</caption><tbody>
            \(rows)
            \(more)
            </tbody></table>
            </section>
            """
    }

    // MARK: - Who it was for

    var planned: HTML {
        let plan = report.plan
        let why = whyInPreview
        let skipped = report.skipped
        let total = skipped.reduce(0) { $0 + $1.rows }
        let rows: [HTML] = skipped.map { name, rows in
            let texts = why[name] ?? [OutcomeGuide.note(skipped: name)]
            return "<tr><th scope=\"row\">\(name)</th>\(cells("skipped/\(name)", rows, of: plan.rows))</tr>\(texts.map { explanation($0) })"
        }
        let selected = selectedBy
        let table: HTML =
            skipped.isEmpty
            ? "<p class=\"note\">Every row of the export became a device.</p>"
            : "<table><caption>\(TextFormat.count(total)) rows that are not in the audience; shares are of all rows</caption><tbody>\(rows)</tbody></table>"
        return """
            <section>
            <h2>Who it was for</h2>
            <p class="note">The export had \(figure("rows", plan.rows)) \(plan.rows == 1 ? "row" : "rows"); \(figure("audience", plan.audience)) of them became devices of the audience, each named once.</p>
            <div class="columns">
            \(table)
            \(selected)
            </div>
            </section>
            """
    }

    /// Sentences of the preview, by skip reason.
    private var whyInPreview: [String: [String]] {
        guard case .array(let notes)? = report.plan.preview["skipped_why"], report.plan.retryOf == nil else { return [:] }
        var texts: [String: [String]] = [:]
        for note in notes {
            guard let reason = note["reason"]?.stringValue, let why = note["why"]?.stringValue, !why.isEmpty else { continue }
            texts[reason, default: []].append(why)
        }
        return texts
    }

    private var selectedBy: HTML {
        guard case .object(let members)? = report.plan.preview["selected_by"], report.plan.retryOf == nil, !report.plan.isTest else {
            return ""
        }
        let rows: [HTML] = members.prefix(Self.shownRows).compactMap { member in
            guard let count = member.value.integerValue else { return nil }
            let share = report.plan.audience == 0 ? 0 : Double(count) / Double(report.plan.audience)
            return """
                <tr><th scope="row" dir="auto">\(member.name)</th><td>\(TextFormat.count(Int(count)))</td><td class="share">\(TextFormat.percent(share))</td>\
                <td class="bar"><div style="width:\(Int((share * 100).rounded(.up)))%"></div></td></tr>
                """
        }
        guard !rows.isEmpty else { return "" }
        return """
            <table><caption>What selected them: a device counts under everything that names it, so that shares may add up to more than 100 %</caption><tbody>\(rows)</tbody></table>
            """
    }

    var testDevices: HTML {
        guard !report.testPushes.isEmpty else { return "" }
        let rows: [HTML] = report.testPushes.map { push in
            """
            <tr><th scope="row" dir="auto">\(push.device)</th><td><code>\(push.token.redacted)</code></td><td>\(push.variant)</td><td>\(push.language)</td>\
            <td>\(push.outcome.name)\(push.reason.isEmpty ? "" : " (\(TextStyle.safe(push.reason)))")</td></tr>
            """
        }
        return """
            <section>
            <h2>Test devices</h2>
            <p class="note">This was a test: it went to the app’s test devices and to nobody of the audience.</p>
            <div class="scroll"><table><thead><tr><th scope="col">Device</th><th scope="col">Token</th><th scope="col">Variant</th><th scope="col">Language</th><th scope="col">Outcome</th></tr></thead><tbody>\(rows)</tbody></table></div>
            </section>
            """
    }
}
