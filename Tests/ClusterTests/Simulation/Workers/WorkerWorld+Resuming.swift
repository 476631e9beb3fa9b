@testable import Cluster

/// What the run's file has taken over from the database, at some moments.
struct HostFile {
    /// For each recipient, whether it may have been handed over.
    private(set) var mayBeSent: [Bool]

    init(audience: Int) { mayBeSent = Array(repeating: false, count: audience) }

    /// Takes over what the tables have. Once another server has taken over it takes nothing back:
    /// what it has may have been forgotten there, and a recipient that is claimed a second time is
    /// unknown (`RunFile.applyInDoubt`).
    mutating func take(_ tables: SharedTables, of server: Int) {
        let now = tables.mayBeSent
        for id in mayBeSent.indices { mayBeSent[id] = now[id] || server > 0 && mayBeSent[id] }
    }
}

extension SharedTables {
    /// For each recipient, whether it is claimed and was not given back since, or has an outcome.
    var mayBeSent: [Bool] {
        var mayBeSent = (0..<audience).map { claimed[$0] >= 0 || settled[$0] > 0 }
        for leasedRange in returned + rows.flatMap(\.open) {
            for id in leasedRange.range where leasedRange.redo > claimed[id] && settled[id] == 0 {
                mayBeSent[id] = false
            }
        }
        return mayBeSent
    }
}

/// A run whose database has forgotten something, or may have, is resumed by a person, from its
/// file, without the database.
extension WorkerWorld {
    mutating func resumeAtHost() {
        counts[.resumptions] += 1
        let before = file.mayBeSent, store = tables.mayBeSent
        file.take(tables, of: incarnation)
        let rest = (0..<audience).filter {
            breakage == .resumesThroughStore ? tables.claimed[$0] < 0 : !file.mayBeSent[$0]
        }
        for id in rest where truth.submitted[id] > 0 {
            if before[id] || store[id] { fail("\(id) is sent to again by a resumption, although it was known") }
            if truth.forgotten[id] == nil {
                fail("\(id) is sent to again by a resumption, although nothing of it was forgotten")
            }
        }
        tell("resumed at home: \(rest.count) are left")
    }
}
