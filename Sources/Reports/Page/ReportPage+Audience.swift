import Base
import PushServices
import Runs

/// The audience: the way from the export to the devices.
extension ReportPage {
    var audience: HTML {
        let plan = report.plan
        // A retry or a test has no export of its own.
        // Where the service chooses the devices, there is no export.
        if report.service.choosesDevices, plan.skipped.isEmpty { return hidden("rows", number: plan.rows) }
        guard plan.retryOf == nil else {
            let leftOut = plan.skipped[.suppressed].map { hidden("skipped/suppressed", number: $0) }
            return "\(hidden("rows", number: plan.rows))\(leftOut ?? "")"
        }
        var funnel = Funnel(
            rows: plan.rows, skipped: plan.skipped, audience: plan.audience, target: report.service.target,
            notes: notes, figure: figure)
        if hasBegun, plan.audience > 0 {
            let lost = plan.audience - report.count(.accepted)
            funnel.end(
                accepted: report.count(.accepted),
                losses: lost > 0
                    ? [
                        "− \(TextFormat.count(lost)) \(state == .running || state == .paused ? "not yet, or" : "" as HTML) for the reasons above"
                    ] : [])
        }
        return """
            <section class="panel"><h2>From the export to the devices</h2>
            <p class="note">Each step keeps a part of the one before. Shares are of the export’s rows.</p>
            \(funnel.html)
            \(FoldedSection("What selected them", selectedBy).html)
            </section>
            """
    }

    private var notes: [SkipReason: [Funnel.Note]] {
        // Trouble is listed among the losses.
        let texts = whyInPreview.map { name, texts in
            (SkipReason(rawValue: name), texts.map { Funnel.Note($0, isTrouble: false) })
        }
        return texts.reduce(into: [:]) { all, note in if let reason = note.0 { all[reason] = note.1 } }
    }

    /// Sentences of the preview, by skip reason.
    var whyInPreview: [String: [String]] {
        guard case .array(let notes)? = report.plan.preview["skipped_why"], report.plan.retryOf == nil else {
            return [:]
        }
        var texts: [String: [String]] = [:]
        for note in notes {
            guard let reason = note["reason"]?.stringValue, let why = note["why"]?.stringValue, !why.isEmpty else {
                continue
            }
            // The frozen sentence names the command that lists them; the guide's own says the rest.
            if report.face == .console, SkipReason(rawValue: reason) == .suppressed { continue }
            // The frozen sentence was written for a terminal.
            let rows = /(?<before>[ (])\/(?:[^\/ ]+\/)*(?<row>[^\/ ]+:[0-9]+)/
            texts[reason, default: []].append(
                report.face == .console ? why.replacing(rows) { "\($0.before)\($0.row)" } : why)
        }
        return texts
    }

    private var selectedBy: HTML {
        guard case .object(let members)? = report.plan.preview["selected_by"], report.plan.retryOf == nil,
            !report.plan.isTest
        else {
            return ""
        }
        let items = members.prefix(Self.shownRows).compactMap { member -> BarList.Item? in
            guard let count = member.value.integerValue.map({ Int($0) }) else { return nil }
            return BarList.Item(
                "<span dir=\"auto\">\(member.name)</span>", "\(TextFormat.count(count))", share: percent(count),
                parts: [.init(count)])
        }
        guard !items.isEmpty else { return "" }
        return """
            <p class="note">A device counts under everything that names it, so shares may add up to more than 100 %.</p>
            \(BarList(items, whole: report.plan.audience).html)
            """
    }

    var testDevices: HTML {
        guard !report.testPushes.isEmpty else { return "" }
        let rows = report.testPushes.map { push in
            DataTable.Row(
                name: "\(push.device)",
                cells: [
                    "<code>\(push.token.redacted)</code>", "\(push.variant)", "\(push.language)",
                    "\(push.outcome.name)\(push.reason.isEmpty ? "" : " (\(TextStyle.safe(push.reason)))")",
                ])
        }
        return """
            <section class="panel">
            <h2>Test devices</h2>
            <p class="note">This was a test: it went to the app’s test devices and to no device of the audience. \(badges)</p>
            \(DataTable(columns: ["Device", TextFormat.capitalized(report.service.target.shortNoun), "Variant", "Language", "Outcome"], rows: rows).html)
            </section>
            """
    }
}
