package import Base

/// Recipients of a run that have certain outcomes, and that no retry of it took over.
public struct RunRemainder: Sendable {
    package let run: RunFile
    package let outcomes: Set<Outcome>

    package init(of run: RunFile, outcomes: Set<Outcome>) {
        self.run = run
        self.outcomes = outcomes
    }

    /// How many there are.
    /// - Throws: `Diagnostic`: a run file is damaged, or that of a retry is gone.
    package func count() throws -> Int {
        var count = 0
        try forEach { _, _ in count += 1 }
        return count
    }

    /// Each with its id in the run, in the order of sending.
    /// - Throws: as `count`.
    package func forEach(_ body: (Int, Recipient) throws -> Void) throws {
        let takenOver = try tokensOfRetries()
        try run.forEachResult { id, recipient, settlement, isClaimed in
            guard outcomes.contains(settlement?.outcome ?? (isClaimed ? .unknown : .unsent)), !takenOver.contains(recipient.token) else {
                return
            }
            try body(id, recipient)
        }
    }

    private func tokensOfRetries() throws -> Set<Target> {
        var tokens: Set<Target> = []
        let (chain, record) = (try RunChain(of: run), run.catalog.history)
        let retries = try chain.standingRetries(of: run.plan.id)
        let givenUp = try chain.abandonedRetries(of: run.plan.id, record)
        let sent = try record.retries(of: run.plan.id).filter { !givenUp.contains($0) }
        if let gone = sent.first(where: { id in !retries.contains { $0.plan.id == id } }) {
            if run.catalog.holds(gone) {
                do { _ = try run.catalog.open(gone) } catch {
                    throw Diagnostic(
                        "the run was retried as \(gone), and what it reached cannot be read: \(Diagnostic(explaining: error).message)",
                        file: run.catalog.place(of: gone),
                        remedy: "Restore it, or make it readable for your user. Without it, devices could get the push twice.")
                }
            }
            throw Diagnostic(
                "the run was retried as \(gone), but that retry's file is gone: the devices it reached are not known", file: run.place,
                remedy: "Restore the file of \(gone) next to this one. Without it, devices could get the push twice.")
        }
        for retry in retries {
            try retry.forEachResult { _, recipient, _, _ in tokens.insert(recipient.token) }
        }
        return tokens
    }
}

extension RunRemainder {
    /// How to send again to devices for which a run that is over failed; nil when no device failed, or when that is not
    /// known.
    public static func remedyForFailed(_ run: RunFile) -> String? {
        guard let failed = try? run.figures().outcomes[.failed, default: 0], failed > 0 else { return nil }
        let devices = failed == 1 ? "the device for which it failed" : "the \(TextFormat.count(failed)) devices for which it failed"
        return "`volley retry \(run.plan.id) --outcome failed` sends to \(devices)."
    }

    /// How to send to devices that a cancelled run did not reach and no retry took over; nil when no device is left, or
    /// when that is not known because the store of several machines has forgotten something.
    public static func remedyForUnsent(_ run: RunFile) -> String? {
        guard let status = try? run.status(), status.state == .cancelled, status.cause?.isForgetting != true else { return nil }
        guard let count = try? RunRemainder(of: run, outcomes: [.unsent]).count(), count > 0 else { return nil }
        let devices = count == 1 ? "the device that was never sent to" : "the \(TextFormat.count(count)) devices that were never sent to"
        return "`volley retry \(run.plan.id) --outcome unsent` sends to \(devices)."
    }
}
