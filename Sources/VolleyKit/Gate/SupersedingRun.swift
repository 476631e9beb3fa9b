import Base
import Runs

/// Another run of the campaign that has reached devices to which a run is still to be sent: planned in its place, for those who were left, or beside it
/// by somebody else.
struct SupersedingRun {
    let run: RunStore
    /// Devices that the other run has reached, or will; nil when nobody knows, as its recipients were pruned.
    let shared: Int?

    /// The first in the folder that reached somebody since the run was planned or, when it goes on or is a retry, since the first of its chain began. Who
    /// plans later knows of those before, and sends to them once more. Runs for other times of the schedule do not count, as each time goes out once,
    /// nor those of its own chain, nor what a process is only about to send that took its lock after this run's; files that cannot be opened are passed over.
    /// - Throws: `Diagnostic`: the folder, or a file of the campaign, cannot be read.
    static func first(of run: RunStore, _ settings: RunSettings) throws -> SupersedingRun? {
        if run.plan.isTest { return nil }
        let chain = try RunChain(of: run)
        defer { chain.close() }
        let since = chain.runs.compactMap { try? $0.status().startedAt }.min() ?? run.plan.plannedAt
        var left: Set<Int>?
        for other in try RunStore.ofCampaign(run.plan.campaign, in: FilePaths.folder(of: run.path)) {
            defer { other.close() }
            guard other.plan.app == run.plan.app, !other.plan.isTest, !chain.runs.contains(where: { $0.plan.id == other.plan.id }),
                try other.mayHaveReached(since: since), try !isOtherTime(other, run, settings)
            else { continue }
            let isAbout = try run.yields(to: other) || other.status().state == .paused
            guard try isAbout || other.hasBegun() else { continue }
            guard other.prunedAt == nil else { return SupersedingRun(run: other, shared: nil) }
            let own = try left ?? run.devicesLeft()
            left = own
            var shared = 0
            try other.forEachReached(closing: SendStage.closingReasons) { token, moment, _ in
                if moment.map({ $0 >= since }) ?? isAbout, own.contains(UnsafeRawBufferPointer(token).hashed) { shared += 1 }
            }
            if shared > 0 { return SupersedingRun(run: other, shared: shared) }
        }
        return nil
    }

    private static func isOtherTime(_ other: RunStore, _ run: RunStore, _ settings: RunSettings) throws -> Bool {
        guard let time = settings.schedule?.occurrence else { return false }
        guard let theirs = try RunSettings(json: other.plan.settings, runFile: other.path).schedule?.occurrence else { return false }
        return theirs != time
    }
}

extension RunStore {
    /// Whether a process sends `other`, or is about to and took its lock before this run's was taken: of two that have not begun, the one that had it first
    /// begins.
    func yields(to other: RunStore) throws -> Bool {
        guard let theirs = other.sendingSince else { return false }
        guard let own = sendingSince, try ![.running, .paused].contains(other.status().state) else { return true }
        return (theirs, other.plan.id) < (own, plan.id)
    }

    /// Hashes of the tokens of those who have no outcome yet.
    fileprivate func devicesLeft() throws -> Set<Int> {
        var left: Set<Int> = []
        try forEachResult { _, recipient, outcome, _ in
            if outcome == nil { left.insert(Array(recipient.token.hex.utf8).withUnsafeBytes(\.hashed)) }
        }
        return left
    }
}

extension UnsafeRawBufferPointer {
    /// Of 64 bits, keyed anew in each process.
    fileprivate var hashed: Int {
        var hasher = Hasher()
        hasher.combine(bytes: self)
        return hasher.finalize()
    }
}
