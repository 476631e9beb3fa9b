package import Base

/// A run and its retries, in the order in which they were planned: each sends to some of the
/// recipients of an earlier one again.
///
/// ```swift
/// let chain = try RunChain(of: run)
/// defer { chain.close() }
/// let retries = chain.retries(of: run.plan.id)
/// ```
public struct RunChain: Sendable {
    /// At least the requested run. Each is opened for reading.
    public let runs: [RunFile]
    private let asked: RunFile

    /// Looks in the run's folder for runs that it retries, and that retry it. Files there that
    /// cannot be opened are skipped.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public init(of run: RunFile) throws {
        var all = try run.catalog.runs(of: nil) { $0.retryOf != nil }
        let byID = Dictionary(all.map { ($0.plan.id, $0.plan) }) { first, _ in first }
        // All but the first of a chain are retries.
        var (first, seen) = (run.plan.retryOf, Set([run.plan.id]))
        while let id = first, seen.insert(id).inserted, let plan = byID[id] { first = plan.retryOf }
        if let first, byID[first] == nil { all += try run.catalog.runs(of: nil) { $0.id == first } }
        self.init(of: run, among: all)
    }

    /// Searches the runs of a folder.
    public init(of run: RunFile, among all: [RunFile]) {
        let byID = Dictionary(all.map { ($0.plan.id, $0) }) { first, _ in first }
        var first = run
        var ids: Set<String> = []
        while ids.insert(first.plan.id).inserted, let earlier = first.plan.retryOf.flatMap({ byID[$0] }) {
            first = earlier
        }
        ids = [first.plan.id]
        var chain = [first], before = 0
        // In the order of planning, until no more are found: a clock that was set back may have a
        // retry planned before the run that it retries.
        while before < chain.count {
            before = chain.count
            for candidate in all
            where candidate.plan.retryOf.map(ids.contains) ?? false && ids.insert(candidate.plan.id).inserted {
                chain.append(candidate)
            }
        }
        runs = chain
        asked = run
    }

    /// Closes its runs except the requested one, which keeps its lock.
    public func close() {
        for run in runs where run !== asked { run.close() }
    }

    /// The runs that retry `id`.
    public func retries(of id: String) -> [RunFile] { runs.filter { $0.plan.retryOf == id } }
}

extension RunChain {
    /// The runs that retry `id` and may have sent, or may still: all but plans that were cancelled
    /// before anything of them was sent.
    package func standingRetries(of id: String) throws -> [RunFile] {
        try retries(of: id).filter { try $0.countsAsRetry() }
    }

    /// The runs that retry `id` and were recorded as about to begin, but cancelled before they did:
    /// nothing of them was or will be sent.
    package func abandonedRetries(of id: String, _ record: SendingHistory) throws -> Set<String> {
        let givenUp = try retries(of: id).filter { retry in
            guard let former = try record.entry(of: retry.plan.id)?.previousEpoch else { return false }
            defer { retry.close() }
            do {
                return try retry.status().state == .cancelled && !retry.hasBegun() && retry.status().epoch == former
            } catch {
                guard !retry.isInPlace else { throw error }
                return false
            }
        }
        return Set(givenUp.map(\.plan.id))
    }
}

extension RunFile {
    /// Whether this retry may have sent, or may still: not when it was cancelled before anything of
    /// it was sent.
    package func countsAsRetry() throws -> Bool {
        defer { close() }
        do { return try status().state != .cancelled || hasBegun() } catch {
            // Abandoned and removed by the command that created it.
            guard !isInPlace else { throw error }
            return false
        }
    }
}

/// Recipients of a run that have certain outcomes, and that no retry of it took over. If it is a
/// retry that sent nothing, neither did another machine's retry of the same run.
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
            guard outcomes.contains(settlement?.outcome ?? (isClaimed ? .unknown : .unsent)),
                !takenOver.contains(recipient.token)
            else {
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
                        remedy:
                            "Restore it, or make it readable for your user. Without it, devices could get the push twice."
                    )
                }
            }
            throw Diagnostic(
                "the run was retried as \(gone), but that retry's file is gone: the devices it reached are not known",
                file: run.place,
                remedy: "Restore the file of \(gone) next to this one. Without it, devices could get the push twice.")
        }
        // A retry that sent nothing may have been planned without knowing of the other one.
        let parent = try run.claims().made == 0 ? run.plan.retryOf : nil,
            siblings = try parent.map(chain.standingRetries) ?? []
        let fetched = try siblings.filter { try $0.plan.id != run.plan.id && $0.copiedAt() != nil && $0.hasBegun() }
        for retry in retries + fetched {
            try retry.forEachResult { _, recipient, _, _ in tokens.insert(recipient.token) }
        }
        return tokens
    }
}

extension RunRemainder {
    /// How to send again to devices for which a run that is over failed; nil when no device failed,
    /// or when that is not known.
    public static func remedyForFailed(_ run: RunFile) -> String? {
        guard let failed = try? run.figures().outcomes[.failed, default: 0], failed > 0 else { return nil }
        let devices =
            failed == 1
            ? "the device for which it failed" : "the \(TextFormat.count(failed)) devices for which it failed"
        return "`volley retry \(run.plan.id) --outcome failed` sends to \(devices)."
    }

    /// How to send to more devices of a run, if none of its own are left that were asked for; nil
    /// if it has no retries, and no device that was never sent to.
    /// - Parameter retries: of the run, in the order of planning.
    public static func remedyForMore(_ run: RunFile, _ retries: [RunFile]) -> String? {
        remedyForUnsent(run) ?? retries.reversed().lazy.compactMap(remedyForUnsent).first
            ?? retries.last.map {
                "`volley retry \($0.plan.id) --outcome failed` sends to devices for which it failed again."
            }
    }

    /// How to send to devices that a cancelled run did not reach and no retry took over; nil when
    /// no device is left, or when that is not known because the store of several machines has
    /// forgotten something.
    public static func remedyForUnsent(_ run: RunFile) -> String? {
        guard let status = try? run.status(), status.state == .cancelled, status.cause?.isForgetting != true else {
            return nil
        }
        guard let count = try? RunRemainder(of: run, outcomes: [.unsent]).count(), count > 0 else { return nil }
        let devices =
            count == 1
            ? "the device that was never sent to" : "the \(TextFormat.count(count)) devices that were never sent to"
        return "`volley retry \(run.plan.id) --outcome unsent` sends to \(devices)."
    }
}
