@testable import PostgresRuns

/// What the run's file has taken over from the database, at some moments.
struct HomeFile {
    /// For each recipient, whether it may have been handed over.
    private(set) var mayBeSent: [Bool]
    /// The server from which it took something last.
    private var server = 0

    init(audience: Int) { mayBeSent = Array(repeating: false, count: audience) }

    /// Takes over what the tables have. Of a server that may have forgotten something, it takes nothing back.
    mutating func take(_ tables: SharedTables, of server: Int) {
        let now = tables.mayBeSent
        for id in mayBeSent.indices { mayBeSent[id] = now[id] || server != self.server && mayBeSent[id] }
        // From then on it knows what this server knew, and more.
        if server == self.server { return }
        if zip(mayBeSent, now).allSatisfy({ $0 == $1 }) { self.server = server }
    }
}

extension SharedTables {
    /// For each recipient, whether it is claimed and was not given back since, or has an outcome.
    var mayBeSent: [Bool] {
        var mayBeSent = (0..<audience).map { claimed[$0] >= 0 || settled[$0] > 0 }
        for stretch in returned + rows.flatMap(\.open) {
            for id in stretch.range where stretch.redo > claimed[id] && settled[id] == 0 { mayBeSent[id] = false }
        }
        return mayBeSent
    }
}

/// A run whose database has forgotten something, or may have, is resumed by a person, from its file, without the database.
extension MemberWorld {
    mutating func resumeAtHome() {
        counts[.resumptions] += 1
        let before = file.mayBeSent, store = tables.mayBeSent
        file.take(tables, of: incarnation)
        let rest = (0..<audience).filter { breakage == .resumesThroughStore ? tables.claimed[$0] < 0 : !file.mayBeSent[$0] }
        for id in rest where truth.submitted[id] > 0 {
            if before[id] || store[id] { fail("\(id) is sent to again by a resumption, although it was known") }
        }
        tell("resumed at home: \(rest.count) are left")
    }
}
