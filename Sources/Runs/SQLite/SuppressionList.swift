public import Base
import GRDB
public import PushServices

/// The devices of an app that get no more pushes, because the service said that their tokens are
/// invalid: one SQLite file for each app, next to its runs, named `suppressed-APP.sqlite`.
///
/// The file holds a list for each service and environment, separately: a token that the sandbox
/// does not know, or that the simulator played a refusal for, says nothing about production. A
/// token is in a list only once, with the newest known entry.
///
/// Nothing stays open between calls, and any number of processes may use a list at once. A missing
/// file is an empty list; it is created with the first entry. Calls throw `Diagnostic`: the file is
/// damaged, of a newer version, not a list, not permitted; the disk is full.
///
/// ```swift
/// let list = SuppressionList(app: "shop", environment: "production", folder: "runs")
/// let added = try list.add { list in
///     try list.add(Target(normalized: "7f3a…"), reason: "asked", invalidSince: .now())
/// }
/// ```
public struct SuppressionList: Sendable {
    /// The columns of an export of the list.
    public static let exportColumns = ["device_token", "reason", "invalid_since", "added_at", "run"]

    /// The app's name in volley.yaml.
    public let app: String
    /// Which of the app's lists: `production`, `sandbox`, `simulator`, or `host:port`; of a service
    /// that is not the standard one, with its name in front (`ServiceSettings.listName`).
    public let environment: String
    /// What the targets of the app's service look like.
    public let targets: TargetForm
    /// Where it is, for messages.
    public var place: String { path }
    let path: String

    static let prefix = "suppressed-"

    /// A list; nothing is opened or created.
    /// - Parameters:
    ///   - service: the app's.
    ///   - folder: the folder of runs.
    public init(app: String, service: any PushService = PushServices.standard, environment: String, folder: String) {
        self.app = app
        self.environment = environment
        targets = service.target
        path = FilePaths.join(folder, name: Self.prefix + FilePaths.encoded(app) + DatabaseFile.suffix)
    }

    /// Whether a path is named like a list.
    static func isNamed(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasPrefix(prefix) && name.hasSuffix(DatabaseFile.suffix)
    }

    // MARK: - Reading

    /// Devices in the list.
    public func count() throws -> Int {
        try SuppressionFile.read(path, isDecision: false) { try count($0) } ?? 0
    }

    /// Devices by reason, the most frequent first.
    public func reasons() throws -> [(reason: String, devices: Int)] {
        try SuppressionFile.read(path, isDecision: false) { db in
            try db.all(SuppressionSchema.countReasons, [environment]) { (try $0.string(0), try $0.count(1)) }
        } ?? []
    }

    /// The entries written last, the newest first.
    public func newest(_ limit: Int) throws -> [SuppressedDevice] {
        try devices(SuppressionSchema.selectNewest, isDecision: false) { try $0.bind(limit, at: 2) }
    }

    /// The entry of a device; nil when it is not in the list.
    public func entry(of token: Target) throws -> SuppressedDevice? {
        try devices(SuppressionSchema.selectOne) { try $0.bind(token.text, at: 2) }.first
    }

    /// Calls `body` with every entry, in the order of the tokens, in constant memory.
    ///
    /// They are read a page at a time: otherwise a slow reader would keep others from writing.
    /// Entries added in between may be among them or not.
    public func forEach(_ body: (SuppressedDevice) throws -> Void) throws {
        var last = ""
        while true {
            let page = try devices(SuppressionSchema.selectPage, isDecision: last.isEmpty) { select in
                try select.bind(last, at: 2)
                try select.bind(Self.pageSize, at: 3)
            }
            for device in page { try body(device) }
            guard page.count == Self.pageSize, let end = page.last else { return }
            last = end.token.text
        }
    }

    private static let pageSize = 10_000

    private func devices(
        _ sql: String, isDecision: Bool = true, _ bind: (PreparedStatement) throws -> Void
    ) throws -> [SuppressedDevice] {
        var devices: [SuppressedDevice] = []
        _ = try SuppressionFile.read(path, isDecision: isDecision) { db in
            let select = try PreparedStatement(db, sql: sql)
            try select.bind(environment, at: 1)
            try bind(select)
            let targets = targets.kept
            try select.forEachRow { row in
                devices.append(try SuppressedDevice(row, targets, path: path))
                return true
            }
        }
        return devices
    }

    /// A device's token (lent until the call returns), since when it is invalid, and whether a
    /// person put it on the list by an import.
    public typealias TokenBody = (_ token: UnsafeBufferPointer<UInt8>, _ invalidSince: Timestamp, _ isImported: Bool) ->
        Void

    /// Lends what planning needs, as the list is at one moment; nil when it is empty.
    /// - Parameters:
    ///   - planning: when a plan judged the list; nil if none did. Then only what a person put on
    ///     the list counts, and what services called gone since then: of the rest the export had
    ///     said that they registered again. A complaint never depends on a clock.
    ///   - body: takes how many devices there are at most, and what goes through them once. Must
    ///     not use this list.
    public func withTokens<Result>(
        since planning: Timestamp? = nil, _ body: (_ count: Int, _ forEach: (TokenBody) throws -> Void) throws -> Result
    ) throws -> Result? {
        let result = try SuppressionFile.read(path) { db -> Result? in
            let count = try count(db)
            guard count > 0 else { return nil }
            return try body(count) { body in
                let select = try PreparedStatement(db, sql: SuppressionSchema.selectTokens)
                try select.bind(environment, at: 1)
                try select.bind(planning.map { Int($0.epochMilliseconds) } ?? .min, at: 2)
                let targets = targets.kept
                try select.forEachRow { row in
                    let token = row.text(0)
                    guard targets.contains(token) else {
                        throw SuppressionFile.format.damaged(path, what: "a device token cannot be read")
                    }
                    body(token, try row.moment(1), try row.flag(2))
                    return true
                }
            }
        }
        return result ?? nil
    }

    // MARK: - Changing

    /// The result of a change, in devices.
    public struct Change: Hashable, Sendable {
        /// New in the list.
        public var added = 0
        /// In the list before, and known to be invalid more recently now.
        public var renewed = 0
        /// Refused but not added, as wrong settings may be the reason.
        public var notSuppressed = 0

        /// Nothing.
        public init() {}
    }

    /// Adds the devices of an ended run whose outcome is `invalid_token`. Entries that the list
    /// already has change nothing, so doing it again does no harm.
    ///
    /// Devices refused for a reason that wrong settings can also cause are added only when the run
    /// has finished and enough others were accepted (`RunEvidence`).
    /// - Parameter service: the number of the run's service whose list this is; only its devices
    ///   are added, as only its answers show.
    public func suppressGone(of run: RunFile, service: Int = 0) throws -> Change {
        // Kept with a run that has ended, and usually 0 or small: no file is created, and no
        // outcome read, needlessly.
        guard try run.figures().figures(ofService: service).outcomes[.invalidToken, default: 0] > 0 else {
            return Change()
        }
        try run.requireRecipients()
        let hasFinished = try run.status().state == .finished
        let evidence = try run.evidence(ofService: service)
        var notSuppressed = 0
        var change = try add { entries in
            try run.forEachDevice(withOutcome: .invalidToken) { settled in
                guard run.plan.service(of: settled.recipient) == service else { return false }
                let suppresses = evidence.suppresses(status: settled.status, hasFinished: hasFinished)
                if !suppresses { notSuppressed += 1 }
                return suppresses
            } _: { token, settled in
                try entries.add(
                    token, reason: settled.reason,
                    invalidSince: min(settled.invalidSince ?? settled.settledAt, settled.settledAt),
                    run: run.plan.id)
            }
        }
        change.notSuppressed = notSuppressed
        return change
    }

    /// Adds entries.
    public struct Entries {
        fileprivate let insert: PreparedStatement

        /// Adds a device.
        /// - Parameters:
        ///   - token: lower-case hex.
        ///   - reason: the service's reason or an importer's text, at most 200 bytes.
        ///   - invalidSince: since when the token is known to be invalid. A device that registered
        ///     later may be sent to.
        public func add(_ token: Target, reason: String, invalidSince: Timestamp) throws {
            var hex = token.text
            try hex.withUTF8 { try add($0, reason: reason, invalidSince: invalidSince, run: "") }
        }

        fileprivate func add(_ token: UnsafeBufferPointer<UInt8>, reason: String, invalidSince: Timestamp, run: String)
            throws
        {
            try insert.bind(token, at: 1)
            try insert.bind(TextFormat.foreign(reason), at: 2)
            try insert.bind(Int(invalidSince.epochMilliseconds), at: 3)
            try insert.bind(run, at: 4)
            try insert.execute()
        }
    }

    /// Adds devices, all of them or, when `fill` throws, none.
    public func add(at now: Timestamp = .now(), _ fill: (Entries) throws -> Void) throws -> Change {
        try SuppressionFile.write(path) { db in
            try db.execute(sql: SuppressionSchema.incoming)
            try db.inTransaction(.deferred) {
                try fill(Entries(insert: PreparedStatement(db, sql: SuppressionSchema.insertIncoming)))
                return .commit
            }
            var change = Change()
            try transaction(db) {
                let before = try count(db)
                try db.execute(sql: SuppressionSchema.merge, arguments: [environment, now.epochMilliseconds])
                let changed = db.changesCount
                if try SuppressionSchema.isShared(db) {
                    try db.execute(
                        sql: SuppressionSchema.markIncoming, arguments: [environment, now.epochMilliseconds])
                }
                change.added = try count(db) - before
                change.renewed = changed - change.added
                return .commit
            }
            return change
        }
    }

    /// Removes devices, all of them or, when `fill` throws, none. They are not added again until
    /// the service refuses them again.
    /// - Parameter fill: hands over tokens.
    /// - Returns: how many devices were named, and how many of them were in the list.
    public func remove(_ fill: ((Target) throws -> Void) throws -> Void) throws -> (named: Int, removed: Int) {
        try SuppressionFile.write(path) { db in
            try db.execute(sql: SuppressionSchema.outgoing)
            var named = 0
            try db.inTransaction(.deferred) {
                let insert = try PreparedStatement(db, sql: SuppressionSchema.insertOutgoing)
                try fill { token in
                    try insert.bind(token.text, at: 1)
                    named += try insert.execute()
                }
                return .commit
            }
            var removed = 0
            try transaction(db) {
                try markRemoved(db, "AND device_token IN (SELECT device_token FROM temp.outgoing)")
                try db.execute(sql: SuppressionSchema.removeOutgoing, arguments: [environment])
                removed = db.changesCount
                return .commit
            }
            return (named, removed)
        }
    }

    /// Removes every device of this environment.
    /// - Returns: how many there were.
    public func removeAll() throws -> Int {
        guard try count() > 0 else { return 0 }
        return try SuppressionFile.write(path) { db in
            var removed = 0
            try transaction(db) {
                removed = try count(db)
                try markRemoved(db, "")
                try db.execute(sql: "DELETE FROM suppressed WHERE environment = ?", arguments: [environment])
                return .commit
            }
            return removed
        }
    }

    /// - Parameter which: a further condition on entries.
    private func markRemoved(_ db: Database, _ which: String) throws {
        guard try SuppressionSchema.isShared(db) else { return }
        try db.execute(
            sql: "\(SuppressionSchema.markRemoved) \(which)",
            arguments: [Timestamp.now().epochMilliseconds, environment])
    }

    /// Changes the list and locks it for others until done.
    func transaction(_ db: Database, _ body: () throws -> Database.TransactionCompletion) throws {
        try DatabaseFile.inTurn(path) { try db.inTransaction(.immediate, body) }
    }

    private func count(_ db: Database) throws -> Int {
        try db.first(SuppressionSchema.count, [environment]) { try $0.count(0) } ?? 0
    }
}

/// An entry of a suppression list.
public struct SuppressedDevice: Hashable, Sendable {
    /// Its token.
    public var token: Target
    /// Why: the service's reason, or what an import said.
    public var reason: String
    /// Since when the token is known to be invalid.
    public var invalidSince: Timestamp
    /// When the entry was written.
    public var addedAt: Timestamp
    /// The run that found out; blank for an import.
    public var run: String
}

extension SuppressedDevice {
    /// - Throws: `Diagnostic` for an invalid token: the file is damaged.
    fileprivate init(_ row: PreparedStatement.Row, _ targets: KeptTargets, path: String) throws {
        let token = row.text(0)
        guard targets.contains(token) else {
            throw SuppressionFile.format.damaged(path, what: "a device token cannot be read")
        }
        self.token = Target(normalized: String(decoding: token, as: UTF8.self))
        (invalidSince, reason) = (try row.moment(1), try row.string(2))
        (addedAt, run) = (try row.moment(3), try row.string(4))
    }
}
