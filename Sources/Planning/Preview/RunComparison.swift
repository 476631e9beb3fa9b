import Audience
import Base
import Runs

/// How an audience differs from that of the campaign's last run.
struct RunComparison: Sendable {
    /// A skip reason whose share of the rows has changed.
    struct Shift: Sendable {
        var reason: SkipReason
        var rowsThen: Int
        var rowsNow: Int
    }

    /// Devices that the campaign selects, also those that are left out on purpose: they say that
    /// the export is whole. Devices suppressed since the last run are among those of now; others
    /// that are suppressed are on neither side, so that an export from which they were removed in
    /// the meantime is no smaller.
    struct Selected: Hashable, Sendable {
        var then: Int, now: Int
        /// Whether any of them are left out on purpose.
        var hasLeftOut: Bool

        init(
            then: (audience: Int, skipped: [SkipReason: Int]), now: (audience: Int, skipped: [SkipReason: Int])
        ) {
            func leftOut(_ skipped: [SkipReason: Int]) -> Int {
                skipped[.frequency, default: 0] + skipped[.holdout, default: 0]
            }
            let suppressed = max(0, now.skipped[.suppressed, default: 0] - then.skipped[.suppressed, default: 0])
            self.then = then.audience + leftOut(then.skipped)
            self.now = now.audience + leftOut(now.skipped) + suppressed
            hasLeftOut = self.then > then.audience || self.now > now.audience
        }

        /// Whether they became fewer by more than a limit.
        func passes(_ limit: StopShare) -> Bool { limit.isPassed(by: then - now, of: then) }
    }

    var run: String
    var plannedAt: Timestamp
    var audienceThen: Int
    var audienceNow: Int
    /// What decides whether the export is broken.
    var selected: Selected
    /// In the order of the reasons.
    var shifts: [Shift]

    /// The change, as a share of the rows, from which a shift is worth showing.
    private static let tellingShare = 0.05
    /// A change of the audience that is worth a warning.
    private static let warningChange = 1.0 / 3

    /// -0.12 when the audience shrank by 12 %; nil when the earlier one was empty.
    var change: Double? { Self.change(from: audienceThen, to: audienceNow) }

    private static func change(from then: Int, to now: Int) -> Double? {
        guard then > 0 else { return nil }
        return (Double(now - then) / Double(then) * 10_000).rounded() / 10_000
    }

    /// `12.0 % fewer than the 5,000 of 20261201-090000-spring-sale-7f3a`
    var text: String { text(from: audienceThen, to: audienceNow) }

    private func text(from before: Int, to now: Int) -> String {
        let then = "the \(TextFormat.count(before)) of \(run)"
        guard before != now else { return "as many as \(then)" }
        let word = now < before ? "fewer" : "more"
        guard let change = Self.change(from: before, to: now) else {
            return "\(TextFormat.count(now)) more than \(then)"
        }
        return "\(TextFormat.percent(abs(change))) \(word) than \(then)"
    }

    /// The same of all devices that the campaign selects, where some are left out on purpose.
    private var selectedText: String {
        guard selected.hasLeftOut else { return text }
        return
            "with those left out on purpose \(TextFormat.count(selected.now)), \(text(from: selected.then, to: selected.now))"
    }

    /// A line for each reason whose share changed much.
    var shiftTexts: [String] {
        shifts.map {
            "\($0.reason.rawValue): \(TextFormat.count($0.rowsNow)) rows now, \(TextFormat.count($0.rowsThen)) then"
        }
    }

    /// A warning when the audience grew or shrank by more than a third.
    var warnings: [Diagnostic] {
        let change = Self.change(from: selected.then, to: selected.now)
        guard abs(change ?? (selected.now == 0 ? 0 : 1)) > Self.warningChange else { return [] }
        let reasons = shifts.isEmpty ? "" : " (\(shiftTexts.joined(separator: "; ")))"
        var found = Diagnostic.warning(
            .audienceChanged, message: "the audience changed a lot: \(selectedText)\(reasons)",
            remedy:
                "Check that the export is complete and that its tags are written as before; `volley runs` shows earlier runs."
        )
        found.remedies = [.ask(.checkExport), .seeRuns]
        return [found]
    }

    /// The message when it did.
    func dropMessage(_ limit: StopShare) -> String {
        "the audience has \(TextFormat.devices(audienceNow)), \(selectedText), but it may shrink by at most \(limit)"
    }

    /// The remedy when it did.
    static let dropRemedy =
        "Check that the export is complete and that its tags are written as before. "
        + "To send to this audience, write `shrinks_at_most: off`, or a larger share, under `audience`."

    /// What `preview --json` holds as `compared_with`.
    var json: JSONValue {
        .object(pairs: [
            ("run", .string(run)), ("audience", .integer(Int64(audienceThen))),
            ("change", change.map { .double($0) } ?? .null),
            (
                "skipped",
                .object(
                    pairs: shifts.map {
                        (
                            $0.reason.rawValue,
                            .object(pairs: [
                                ("then", .integer(Int64($0.rowsThen))), ("now", .integer(Int64($0.rowsNow))),
                            ])
                        )
                    })
            ),
        ])
    }
}

extension RunComparison {
    package init(_ plan: RunPlan, _ result: AudienceResult) {
        run = plan.id
        plannedAt = plan.plannedAt
        audienceThen = plan.audience
        audienceNow = result.audience
        selected = Selected(then: (plan.audience, plan.skipped), now: (result.audience, result.skipped))
        shifts = SkipReason.allCases.compactMap { reason in
            let shift = Shift(
                reason: reason, rowsThen: plan.skipped[reason, default: 0], rowsNow: result.skipped[reason, default: 0])
            func share(_ rows: Int, total: Int) -> Double { total == 0 ? 0 : Double(rows) / Double(total) }
            let change = share(shift.rowsNow, total: result.rows) - share(shift.rowsThen, total: plan.rows)
            return abs(change) >= Self.tellingShare ? shift : nil
        }
    }
}
