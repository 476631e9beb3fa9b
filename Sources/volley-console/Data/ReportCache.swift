import Base
import Reports
import Runs
import Synchronization

/// Reports as pages, the last few of them cached: a report of millions takes seconds, and does not
/// change once its run has ended.
final class ReportCache: Sendable {
    private struct Entry {
        var stamps: [String: RunStamp]
        var page: HTML
        var usedAt: Int
    }

    private struct Memory {
        var entries: [String: Entry] = [:]
        var step = 0
    }

    private let catalog: RunsFolder
    private let memory = Mutex(Memory())

    /// How many are remembered.
    private static let most = 20

    init(_ catalog: RunsFolder) { self.catalog = catalog }

    /// What the report's page shows.
    /// - Throws: `Diagnostic`: the run cannot be read, or records less than was sent.
    func page(of summary: RunSummary, madeBy: String, at now: Timestamp) throws -> HTML {
        let id = summary.id
        // It also shows earlier runs of its campaign, and retries, whose ids hold the campaign's
        // name.
        let stamps = try catalog.stamps().filter { $0.key.contains(summary.campaign) }
        let known = memory.withLock { memory -> HTML? in
            memory.step += 1
            guard memory.entries[id]?.stamps == stamps else { return nil }
            memory.entries[id]?.usedAt = memory.step
            return memory.entries[id]?.page
        }
        if let known { return known }
        let run = try catalog.open(id)
        defer { run.close() }
        let doubt = try LedgerGap.doubt(about: run)
        let isOver = try run.status().state.hasEnded
        var report = try Report(run, chain: RunChain(of: run), earlier: run.earlierRuns())
        report.face = .console
        let page: HTML = "\(doubt.map(Words.warning) ?? "")\(ReportPage(report, madeBy: madeBy, madeAt: now).content)"
        if isOver, doubt == nil { remember(page, of: id, stamps) }
        return page
    }

    private func remember(_ page: HTML, of id: String, _ stamps: [String: RunStamp]) {
        memory.withLock { memory in
            memory.entries[id] = Entry(stamps: stamps, page: page, usedAt: memory.step)
            guard memory.entries.count > Self.most,
                let oldest = memory.entries.min(by: { $0.value.usedAt < $1.value.usedAt })
            else {
                return
            }
            memory.entries[oldest.key] = nil
        }
    }
}
