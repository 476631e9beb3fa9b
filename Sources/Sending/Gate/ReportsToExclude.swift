import Base
import Runs

/// The begun runs of one or more chains, whose reports together list the devices that a new plan of
/// the campaign would reach again.
struct ReportsToExclude {
    /// Runs whose reports list those devices, in the order of the chain.
    private(set) var ids: [String] = []
    /// Runs whose reports will list them once the runs have ended.
    private(set) var underway: [String] = []
    /// Runs whose recipients are not known.
    private(set) var unknown: [UnknownRecipients] = []
    /// The first run of the first chain whose file exists.
    let first: RunFile

    /// Whether no device was reached.
    var isNobody: Bool { ids.isEmpty && underway.isEmpty && unknown.isEmpty }

    /// Reads the run's folder and its record of sending.
    /// - Parameter others: runs of other chains in the same folder, and runs whose recipients are
    ///   not known.
    /// - Throws: `Diagnostic`: the folder or the record cannot be read.
    package init(of run: RunFile, and others: SupersedingRuns? = nil) throws {
        let chain = try RunChain(of: run)
        first = chain.runs.first ?? run
        try add(chain, beside: run)
        for other in others?.runs ?? [] where !isKnown(other.plan.id) {
            try add(RunChain(of: other), beside: other)
            // A run that is about to be sent has not begun, so `add` did not find it.
            if !isKnown(other.plan.id) { underway.append(other.plan.id) }
        }
        unknown += others?.unknown.filter { !isKnown($0.id) } ?? []
    }

    private func isKnown(_ id: String) -> Bool {
        ids.contains(id) || underway.contains(id) || unknown.contains { $0.id == id }
    }

    private mutating func add(_ chain: RunChain, beside run: RunFile) throws {
        let record = run.catalog.history
        defer { chain.close() }
        for link in chain.runs {
            guard try link.hasBegun() || Self.mayHaveSent(link.plan.id, record) else { continue }
            if link.prunedAt != nil {
                unknown.append(.pruned(link.plan.id))
            } else if link.sendingSince != nil {
                underway.append(link.plan.id)
            } else if let gap = LedgerGap(of: link) {
                unknown.append(UnknownRecipients(link.plan.id, gap))
            } else if let damage = link.pageDamage() {
                unknown.append(UnknownRecipients(id: link.plan.id, why: damage.message, remedy: damage.remedy ?? ""))
            } else {
                ids.append(link.plan.id)
            }
        }
        for id in try Self.missing(chain, record) { unknown.append(.withoutFile(id, in: run.catalog)) }
    }

    /// The runs of the chain whose files are missing: those that its first run retries, and retries
    /// that have begun.
    private static func missing(_ chain: RunChain, _ record: SendingHistory) throws -> [String] {
        var known = Set(chain.runs.map(\.plan.id))
        var missing: [String] = []
        var above = chain.runs.first?.plan.retryOf
        while let id = above, known.insert(id).inserted {
            missing.append(id)
            above = try record.entry(of: id)?.retryOf
        }
        var parents = chain.runs.map(\.plan.id) + missing
        while let parent = parents.popLast() {
            for retry in try record.retries(of: parent) where try !known.contains(retry) && mayHaveSent(retry, record) {
                known.insert(retry)
                missing.append(retry)
                parents.append(retry)
            }
        }
        return missing
    }

    /// Whether the run may have sent something, according to the record. A first epoch that was
    /// noted and never confirmed pushed nothing.
    private static func mayHaveSent(_ id: String, _ record: SendingHistory) throws -> Bool {
        try record.entry(of: id).map { $0.previousEpoch != "" } ?? false
    }
}

/// A run whose recipients are not known.
struct UnknownRecipients: Hashable {
    let id: String
    /// The reason, as a sentence without its full stop.
    let why: String
    /// The remedy, in sentences.
    let remedy: String

    static func pruned(_ id: String) -> UnknownRecipients {
        UnknownRecipients(
            id: id, why: "its recipients were pruned",
            remedy: "If you kept its report as CSV, that says which devices got the push.")
    }

    /// - Parameter catalog: where the file should be.
    static func withoutFile(_ id: String, in catalog: RunsFolder) -> UnknownRecipients {
        let isThere = catalog.holds(id)
        return UnknownRecipients(
            id: id, why: "its file \(isThere ? "cannot be read" : "is not there")",
            remedy: isThere ? "Make it readable for this user." : "Put it back in \(catalog.place).")
    }
}

extension UnknownRecipients {
    /// - Parameter gap: what the run's file is missing.
    package init(_ id: String, _ gap: LedgerGap) {
        self.init(id: id, why: gap.diagnostic.message, remedy: gap.diagnostic.remedy ?? "")
    }
}
