import Base
import Runs
import Testing

/// What services say of pushes afterwards, answer after answer.
@Suite struct StatisticsTests {
    private let later = noon.adding(seconds: 3600)

    private func statistics(_ said: [(counts: [String: [String: Int]], at: Timestamp)]) throws -> ServiceStatistics? {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 3)
        #expect(try run.statistics().isEmpty)
        for (counts, moment) in said { try run.record(statistics: counts, ofService: 0, at: moment) }
        return try run.statistics().first
    }

    @Test("are summed over what was asked about, and replaced by what is said later of the same")
    func replaced() throws {
        let first = (counts: ["1": ["sent": 5, "shown": 2], "2": ["sent": 7]], at: noon)
        #expect(
            try statistics([first]) == ServiceStatistics(service: 0, askedAt: noon, counts: ["sent": 12, "shown": 2]))
        let second = (counts: ["1": ["sent": 6, "shown": 0], "2": ["sent": 8]], at: later)
        #expect(
            try statistics([first, second])
                == ServiceStatistics(service: 0, askedAt: later, counts: ["sent": 14, "shown": 0]))
    }

    @Test("stay as they were where an answer says nothing, with the moment at which they were said")
    func kept() throws {
        let first = (counts: ["1": ["sent": 5, "shown": 2], "2": ["sent": 7]], at: noon)
        let nothing = try statistics([first, (counts: [:], at: later)])
        #expect(
            nothing
                == ServiceStatistics(
                    service: 0, askedAt: later, counts: ["sent": 12, "shown": 2],
                    olderCounts: ["sent": noon, "shown": noon]))
        // A sum is as old as its oldest part.
        let part = try statistics([first, (counts: ["1": ["sent": 6, "shown": 3]], at: later)])
        #expect(
            part
                == ServiceStatistics(
                    service: 0, askedAt: later, counts: ["sent": 13, "shown": 3], olderCounts: ["sent": noon]))
        #expect(try statistics([(counts: [:], at: noon)]) == ServiceStatistics(service: 0, askedAt: noon, counts: [:]))
    }

    @Test("outlast pruning")
    func pruned() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 3)
        try run.append(.state(.running, at: noon))
        try run.record(statistics: ["1": ["sent": 3]], ofService: 0, at: noon)
        try run.append(.state(.cancelled, at: noon))
        try run.closeIntoOneFile()
        try run.prune(at: later)
        let statistics = try RunFile(path: run.path, readOnly: true).statistics()
        #expect(statistics == [ServiceStatistics(service: 0, askedAt: noon, counts: ["sent": 3])])
    }
}
