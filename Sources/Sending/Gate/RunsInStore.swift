import Base
import Campaigns
import Delivery
import Cluster
import Runs
import Workspace

/// The runs in the store that keep a run from being sent or retried on this machine.
/// `SendPermission` judges the files of this folder. What other machines send is not among them, so
/// the store is asked: a run that counts must be over, and all of it must have been fetched. Then
/// that gate knows which devices it reached.
struct RunsInStore {
    private let run: RunFile
    private let settings: RunSettings
    private let store: Store

    /// nil if the run is sent without the store.
    /// - Throws: `Diagnostic`: the store cannot be used.
    init?(of run: RunFile, _ settings: RunSettings, in project: Project, until cancellation: Cancellation? = nil) throws
    {
        guard RunToSend.goesThroughStore(run.plan, project, settings), !run.isWithoutStore,
            let variable = project.store?.variable
        else {
            return nil
        }
        (self.run, self.settings) = (run, settings)
        store = try StoreAddress(variable: variable).open(asked: cancellation)
    }

    /// - Parameter isBeginning: whether the run begins or continues right after this: then only one
    ///   process of all machines judges and begins a run of the campaign at a time.
    /// - Returns: the runs of the campaign that have begun, and the right to begin, if the run
    ///   needs it.
    /// - Throws: `SendRefused`: one of them keeps the step from being done; `Diagnostic`: the store
    ///   cannot be queried.
    @discardableResult
    func judge(_ step: SendGate.Step, isBeginning: Bool = false) throws -> JudgedRuns {
        let isTimed = step == .begin && ScheduledTime(run, settings, isScheduler: false) != nil
        guard isBeginning, !isTimed else { return JudgedRuns(try judge(step, isTimed: isTimed), nil) }
        guard let lock = try store.lockBeginning(of: run.plan) else { throw RefusalText.isBeginningElsewhere(run) }
        do { return JudgedRuns(try judge(step, isTimed: false), lock) } catch {
            lock.release()
            throw error
        }
    }

    private func judge(_ step: SendGate.Step, isTimed: Bool) throws -> [BegunRun] {
        let rows = try store.begunRuns(of: run.plan.campaign, app: run.plan.app)
        guard rows.contains(where: { $0.id != run.plan.id || $0.removed != nil }) || step == .retry, !isTimed else {
            return rows
        }
        let chain = try RunChain(of: run)
        defer { chain.close() }
        let isFresh = try step == .begin && RelatedRuns.isFresh(run)
        let since =
            try chain.runs.first?.plan.settings.get().plannedInStore
            ?? (isFresh
                ? .unknownInStore
                : (chain.runs.compactMap { try? $0.status().startedAt }.min() ?? run.plan.plannedAt)
                    .adding(seconds: store.clockOffsetSeconds()))
        var family = Set(chain.runs.map(\.plan.id) + [run.plan.retryOf].compactMap(\.self))
        let oldest = rows.first { family.contains($0.id) }?.number ?? 0
        for row in rows {
            if family.contains(row.id) {
                try judge(relative: row, step)
                continue
            }
            // Retries are published after what they retry.
            guard row.isActive || row.number > oldest && !isFresh || row.endedAt.map({ $0 >= since }) ?? false else {
                continue
            }
            let theirs = try store.facts(of: row, in: run.catalog)
            if let parent = theirs.retryOf, family.contains(parent) {
                family.insert(row.id)
                try judge(relative: row, step)
            } else if step != .retry, theirs.list.map(settings.sharesList) ?? true,
                !isOther(theirs.occurrence, isFresh)
            {
                try judge(unrelated: row, isFresh: isFresh, since)
            }
        }
        return rows
    }

    /// A run that this one retries, a retry of it, or another retry of the same run.
    private func judge(relative row: BegunRun, _ step: SendGate.Step) throws {
        let isOwn = row.id == run.plan.id
        if isOwn, row.removed != nil, step != .retry {
            let found = Store.wasSentAndRemoved(run, isWhole: try isFetched(row))
            throw SendRefused(why: .isOutdated, diagnostics: [found])
        }
        // The file of a removed run may have been put back from a backup.
        guard try row.removed != nil || !isHome(row) else { return }
        let why: SendGate.Refusal = isOwn ? .isOutdated : row.id == run.plan.retryOf ? .parentWentOn : .isRetried
        let what = isOwn || row.id == run.plan.retryOf ? "the run \(row.id)" : "\(row.id), a retry of the same devices,"
        if row.isActive { throw RefusalText.isSentElsewhere(run, row, what, why) }
        if try !isFetched(row) { throw RefusalText.isNotFetched(run, row, what, why, isCopy: try isCopy(row)) }
    }

    /// Another run of the campaign.
    private func judge(unrelated row: BegunRun, isFresh: Bool, _ since: Timestamp) throws {
        let what = "\(row.id), another run of '\(run.plan.campaign)',", isHome = try isHome(row)
        if row.isActive, isFresh || !isHome { throw RefusalText.isSentElsewhere(run, row, what, .runsBesideAnother) }
        guard !isHome, row.endedAt.map({ $0 >= since }) ?? true, try !isFetched(row) else { return }
        throw RefusalText.isNotFetched(run, row, what, .isSuperseded, isCopy: try isCopy(row))
    }

    /// Each time of a schedule is sent once, so another time does not count for it (`RelatedRuns`).
    private func isOther(_ theirs: String?, _ isFresh: Bool) -> Bool {
        guard let time = settings.schedule?.occurrence else { return false }
        return theirs.map { $0 != "\(time)" } ?? isFresh
    }

    /// Whether the run was planned in this folder, and its file here has all of it, or gets it:
    /// other machines may have continued a run that this one left.
    private func isHome(_ row: BegunRun) throws -> Bool {
        try file(of: row) { file in
            guard try file.copiedAt() == nil else { return false }
            return try row.id == run.plan.id || file.sharedSince() == nil || file.isWithoutStore
                || file.sendingSince != nil
        } ?? false
    }

    /// Whether this machine does not send the run, but reads it at most.
    private func isCopy(_ row: BegunRun) throws -> Bool { try file(of: row) { try $0.copiedAt() != nil } ?? true }

    /// Whether the file that was fetched holds all that the store knows.
    private func isFetched(_ row: BegunRun) throws -> Bool {
        try file(of: row) { try store.holds($0, allOf: row) } ?? false
    }

    private func file<Value>(of row: BegunRun, _ body: (RunFile) throws -> Value) throws -> Value? {
        if row.id == run.plan.id { return try body(run) }
        guard run.catalog.holds(row.id) else { return nil }
        let file = try run.catalog.open(row.id)
        defer { file.close() }
        return try body(file)
    }
}

extension RunToSend {
    /// Checks that no run of another machine is in the way, right before the run begins or
    /// continues.
    /// - Returns: the runs of the campaign that have begun; nil where the run is sent without the
    ///   store.
    /// - Throws: `SendRefused`; `Diagnostic`: the store cannot be used. Nothing was sent.
    func judgeOthers(_ step: SendGate.Step, until cancellation: Cancellation) throws -> JudgedRuns? {
        try RunsInStore(of: run, settings, in: project, until: cancellation)?.judge(step, isBeginning: true)
    }

    /// The same, before a person is asked.
    func judged(_ step: SendGate.Step) throws -> RunToSend {
        do { try RunsInStore(of: run, settings, in: project)?.judge(step) } catch {
            for gateway in gateways.values { _ = gateway.close() }
            throw error
        }
        return self
    }
}

extension RefusalText {
    /// Another machine is between its look at the store and the beginning of its run.
    static func isBeginningElsewhere(_ run: RunFile) -> SendRefused {
        SendRefused(
            why: .runsBesideAnother,
            diagnostics: [
                Diagnostic(
                    "another process is about to send a run of '\(run.plan.campaign)' through the store; nothing was sent",
                    file: run.place,
                    remedy: "Try again in a minute: once that run has begun, the refusal says which one it is.")
            ])
    }

    /// - Parameter what: the other run, which machines send.
    static func isSentElsewhere(_ run: RunFile, _ other: BegunRun, _ what: String, _ why: SendGate.Refusal)
        -> SendRefused
    {
        let id = other.id, machines = other.machines.map { TextFormat.foreign($0) }.joined(separator: " and ")
        let state = other.state == .paused ? "is paused" : "is being sent"
        // Without the run's file, no command reaches a run that no process sends.
        let end =
            other.machines.isEmpty && !run.catalog.holds(id)
            ? "`volley store fetch \(id)` and then `volley cancel \(id)` end it" : "`volley cancel \(id)` ends it"
        return SendRefused(
            why: why,
            diagnostics: [
                Diagnostic(
                    "according to the store, \(what) \(state)\(machines.isEmpty ? "" : " by \(machines)"); nothing was sent",
                    file: run.place,
                    remedy:
                        "Wait until it is over: `volley store list` shows how far it is. Or \(end), for all machines.",
                    [.wait(run: id), .cancel(run: id)])
            ])
    }

    /// - Parameters:
    ///   - what: the other run, which no machine sends.
    ///   - isCopy: whether its file is not here, or was made from the store. Otherwise this machine
    ///     can continue it.
    static func isNotFetched(
        _ run: RunFile, _ other: BegunRun, _ what: String, _ why: SendGate.Refusal, isCopy: Bool
    ) -> SendRefused {
        let message =
            "other machines have sent \(what) and this machine does not know which devices it reached; nothing was sent"
        let fetch =
            isCopy
            ? "`volley store fetch \(other.id)` brings that here."
            : "`volley resume \(other.id)`, or `volley store fetch \(other.id)` once it has ended, brings that here."
        let remedy: String, remedies: [Remedy]
        if !other.takenBackBy.isEmpty {
            let machine = TextFormat.foreign(other.takenBackBy)
            remedy = "\(machine) continued it without the store: repeat this command there, with its file."
            remedies = [.ask(.restoreRun(other.id))]
        } else if other.removed == nil {
            remedy = "\(fetch) Then repeat this command: it leaves out those devices, or says what to do."
            remedies = [.ask(.restoreRun(other.id))]
        } else if why == .isSuperseded, run.plan.retryOf == nil {
            remedy =
                "It was removed from the store before this machine had fetched all of it. Plan the campaign again if its devices may get it once more."
            remedies = [.planAgain, .newPlanRepeats]
        } else {
            remedy =
                "It was removed from the store before this machine had fetched all of it: repeat this command on the machine that has its whole file."
            remedies = [.ask(.restoreRun(other.id))]
        }
        return SendRefused(
            why: why, diagnostics: [Diagnostic(message, file: run.place, remedy: remedy, remedies)])
    }
}
