public import Base
import GRDB

/// Requests that were named before they left. Only runs with a service that recognizes repeats have
/// the table.
extension RunFile {
    /// Made when the first call is named.
    private static let callTable = """
        CREATE TABLE IF NOT EXISTS call (        -- requests that were named before they went onto the wire
            number INTEGER PRIMARY KEY,
            service INTEGER NOT NULL,            -- its place in run.settings
            name TEXT NOT NULL,                  -- what the service recognizes it by; blank: who may have got a push under an earlier name
            named_at INTEGER NOT NULL,
            recipients BLOB NOT NULL             -- in their order: each id minus the one before, zigzag, 7 bits a byte, the lowest first
        )
        """

    /// Commits the names of calls, all or none.
    func name(_ calls: [NamedCall]) throws {
        guard calls.contains(where: { !$0.recipients.isEmpty }) else { return }
        try write { db in
            try checkSending(db)
            try name(calls, db)
        }
    }

    func name(_ calls: [NamedCall], _ db: Database) throws {
        let ids = calls.lazy.flatMap(\.recipients)
        guard let least = ids.min(), let most = ids.max() else { return }
        let claimed = try claims(db, around: least..<most + 1)
        for call in calls {
            if let unclaimed = call.recipients.first(where: { !claimed.contains($0) }) {
                throw broken("recipient \(unclaimed) is in a call but was never claimed")
            }
        }
        try insert(calls, db)
    }

    private func insert(_ calls: [NamedCall], _ db: Database) throws {
        try db.execute(sql: Self.callTable)
        let insert = try PreparedStatement(
            db, sql: "INSERT INTO call (number, service, name, named_at, recipients) VALUES (?, ?, ?, ?, ?)")
        for call in calls {
            try insert.bind(call.number == 0 ? nil : call.number, at: 1)
            try insert.bind(call.service, at: 2)
            try insert.bind(call.name, at: 3)
            try insert.bind(Int(call.namedAt.epochMilliseconds), at: 4)
            try RecipientList.bytes(of: call.recipients).withUnsafeBytes { bytes in
                try insert.bind(blob: bytes, at: 5)
                try insert.execute()
            }
        }
    }

    /// The named calls of a service that were not forgotten, in the order in which they were named.
    public func calls(ofService service: Int) throws -> [NamedCall] {
        try read { db in
            guard try db.tableExists("call") else { return [] }
            var calls: [NamedCall] = []
            let select = try PreparedStatement(
                db, sql: "SELECT number, name, named_at, recipients FROM call WHERE service = ? ORDER BY number")
            try select.bind(service, at: 1)
            try select.forEachRow { row in
                guard let recipients = RecipientList.read(row.bytes(3)),
                    recipients.allSatisfy((0..<plan.audience).contains)
                else {
                    throw RunDiagnostics.damaged(path, what: "the recipients of a call cannot be read")
                }
                calls.append(
                    NamedCall(
                        number: row.number(0), service: service, name: try row.string(1), namedAt: try row.moment(2),
                        recipients: recipients
                    ))
                return true
            }
            return calls
        }
    }

    /// Forgets calls that say nothing more.
    func forgetCalls(_ numbers: [Int]) throws {
        guard !numbers.isEmpty else { return }
        try write { db in
            try checkSending(db)
            try forgetCalls(numbers, db)
        }
    }

    func forgetCalls(_ numbers: [Int], _ db: Database) throws {
        let delete = try PreparedStatement(db, sql: "DELETE FROM call WHERE number = ?")
        for number in numbers {
            try delete.bind(number, at: 1)
            try delete.execute()
        }
    }

    /// Notes that recipients may have got a push under an earlier name, as they are about to get
    /// another one.
    func noteDoubt(about ids: [Int], at now: Timestamp, _ db: Database) throws {
        guard !ids.isEmpty, try db.tableExists("call") else { return }
        var byService: [Int: [Int]] = [:]
        for id in ids { byService[plan.service(of: id), default: []].append(id) }
        try insert(
            byService.sorted { $0.key < $1.key }.map {
                NamedCall(service: $0.key, name: "", namedAt: now, recipients: $0.value)
            }, db)
    }
}

/// Ids as bytes.
package enum RecipientList {
    package static func bytes(of ids: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * ids.count)
        var before = 0
        for id in ids {
            let difference = id - before
            var rest = UInt(bitPattern: difference << 1 ^ difference >> (Int.bitWidth - 1))
            while rest > 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
            before = id
        }
        return bytes
    }

    /// nil if they are not what `bytes` makes.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> [Int]? {
        var ids: [Int] = []
        var (before, value, shift) = (0, UInt(0), 0)
        for byte in bytes {
            guard shift < 63 else { return nil }
            value |= UInt(byte & 0x7F) << UInt(shift)
            shift += 7
            guard byte & 0x80 == 0 else { continue }
            let (id, overflow) = before.addingReportingOverflow(
                Int(bitPattern: value >> 1) ^ -Int(bitPattern: value & 1))
            guard !overflow else { return nil }
            ids.append(id)
            (before, value, shift) = (id, 0, 0)
        }
        return shift == 0 ? ids : nil
    }
}

/// What services say of a run's pushes after they took them, and what they are asked with.
extension RunFile {
    private static let receiptTable = """
        CREATE TABLE IF NOT EXISTS receipt (     -- ids under which services know pushes of this run
            service INTEGER NOT NULL,            -- its place in run.settings
            id TEXT NOT NULL
        )
        """

    private static let statisticsTables = """
        CREATE TABLE IF NOT EXISTS statistics (  -- when each service answered last
            service INTEGER PRIMARY KEY,         -- its place in run.settings
            asked_at INTEGER NOT NULL
        );
        CREATE TABLE IF NOT EXISTS statistics_count (  -- what it said last of each thing that it was asked about
            service INTEGER NOT NULL,
            subject TEXT NOT NULL,               -- an id of table receipt, or the run's own
            name TEXT NOT NULL,                  -- the service's
            count INTEGER NOT NULL,
            said_at INTEGER NOT NULL,
            PRIMARY KEY (service, subject, name)
        );
        """

    /// Keeps receipts of a service's answers.
    func note(receipts: [String], ofService service: Int) throws {
        guard !receipts.isEmpty else { return }
        try write { db in
            try checkOwner(db)
            try note(receipts: receipts, ofService: service, db)
        }
    }

    func note(receipts: [String], ofService service: Int, _ db: Database) throws {
        try db.execute(sql: Self.receiptTable)
        for receipt in receipts {
            try db.execute(sql: "INSERT INTO receipt VALUES (?, ?)", arguments: [service, receipt])
        }
    }

    /// The receipts of a service's answers, each once, in the order in which they came.
    public func receipts(ofService service: Int) throws -> [String] {
        try read { db in
            guard try db.tableExists("receipt") else { return [] }
            return try db.all("SELECT id FROM receipt WHERE service = ? GROUP BY id ORDER BY min(rowid)", [service]) {
                try $0.string(0)
            }
        }
    }

    /// What services said last of the run's pushes, by their numbers; nothing of services that were
    /// not asked.
    public func statistics() throws -> [ServiceStatistics] {
        try read { db in
            guard try db.tableExists("statistics") else { return [] }
            var statistics = try db.all("SELECT service, asked_at FROM statistics ORDER BY service") { row in
                let service = try row.int(0)
                guard (0..<plan.serviceCount).contains(service) else { throw unreadableStatistics }
                return ServiceStatistics(service: service, askedAt: try row.moment(1), counts: [:])
            }
            let counts = try db.all(
                "SELECT service, name, sum(count), min(said_at) FROM statistics_count GROUP BY service, name"
            ) { row in
                (service: try row.int(0), name: try row.string(1), count: try row.count(2), saidAt: try row.moment(3))
            }
            for said in counts {
                guard let place = statistics.firstIndex(where: { $0.service == said.service }) else {
                    throw unreadableStatistics
                }
                statistics[place].counts[said.name] = said.count
                if said.saidAt < statistics[place].askedAt { statistics[place].olderCounts[said.name] = said.saidAt }
            }
            return statistics
        }
    }

    private var unreadableStatistics: Diagnostic {
        RunDiagnostics.damaged(path, what: "what a service said of its pushes cannot be read")
    }

    /// Keeps what a service said of the run's pushes, in place of what it said before of the same;
    /// what it does not say any more stays as it was.
    /// - Parameter counts: by what it was asked about, and by the service's own names.
    public func record(statistics counts: [String: [String: Int]], ofService service: Int, at now: Timestamp) throws {
        try write { db in
            try db.execute(sql: Self.statisticsTables)
            try db.execute(
                sql: "INSERT OR REPLACE INTO statistics VALUES (?, ?)", arguments: [service, now.epochMilliseconds])
            for (subject, own) in counts.sorted(by: { $0.key < $1.key }) {
                for (name, count) in own.sorted(by: { $0.key < $1.key }) {
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO statistics_count VALUES (?, ?, ?, ?, ?)",
                        arguments: [service, subject, name, count, now.epochMilliseconds])
                }
            }
        }
    }
}
