public import Accounts
public import Base
import Campaigns
import Cryptography
import Reports
public import Runs
import Synchronization

/// Says why the author of an order may no longer place it; nil if they may. The sender checks
/// before it carries out an order, on any of its threads, so that a right that was revoked after
/// the order was placed counts.
public typealias OrderRights = @Sendable (Order) -> OrderRefusal?

/// Rights of orders as accounts have them: the sender checks them before it carries out an order,
/// and the console before it shows a button.
public final class AccountRights: Sendable {
    private let files: ScheduleFiles
    /// nil until the accounts are needed.
    private let accounts: Mutex<AccountStore?>

    /// - Parameters:
    ///   - accounts: those that the process has open; nil to open those next to the runs when an
    ///     order comes.
    ///   - files: those with the times that the sender has; they say where runs and orders are.
    public init(_ accounts: AccountStore?, _ files: ScheduleFiles) {
        self.accounts = Mutex(accounts)
        self.files = files
    }

    /// nil without accounts: then no order can have been placed.
    private func opened() throws -> AccountStore? {
        try accounts.withLock { accounts in
            if accounts == nil, AccountStore.isThere(beside: files.catalog.place) {
                accounts = try AccountStore(beside: files.catalog.place)
            }
            return accounts
        }
    }

    /// Why an order may not be done; nil if it may.
    public func refusal(of order: Order) -> OrderRefusal? {
        do {
            let name = try? AccountName(order.by)
            guard let accounts = try opened(), let account = try name.flatMap({ try accounts.account(named: $0) }),
                // The name of a removed account may go to another person, and that person ordered
                // nothing.
                account.madeAt <= order.askedAt, try isAllowed(order.kind, account.rights)
            else { return .notPermitted }
            switch order.kind {
            case .approve(let id, _): return try fourEyes(run: id, approver: account.name.text)
            case .approveTime(let campaign, let occurrence, _, _):
                guard let facts = try facts(ofCampaign: campaign, at: occurrence) else { return .noSuchTime }
                return try fourEyes(facts, approver: account.name.text)
            default: return nil
            }
        } catch { return .described(Diagnostics(explaining: error).inConsole) }
    }

    private func isAllowed(_ kind: Order.Kind, _ rights: Rights) throws -> Bool {
        // If the app is not known, a role for all apps is required.
        guard rights.allowsSomewhere(kind.right) else { return false }
        return rights.allows(kind.right, app: try app(of: kind.subject))
    }

    /// The app that an order concerns; nil if it cannot be determined.
    private func app(of subject: Order.Kind.Subject) throws -> String? {
        switch subject {
        case .run(let id):
            let run = try files.catalog.open(id)
            defer { run.close() }
            return run.plan.app
        case .file(let path): return Campaign.draft(file: path, now: .now()).app?.value
        case .campaign(let name): return files.read(now: .now()).app(ofCampaign: name)
        }
    }

    /// The accounts that wrote the text of a plan, since the campaign was sent last.
    /// - Parameter sent: digests of the texts of the campaign's runs that were begun before
    ///   (`ShownFile`); nil to look for those of the last twenty.
    public func writers(of run: RunFile, after sent: Set<String>? = nil) throws -> Set<String> {
        try writers(
            of: run.plan.campaignSource, in: run.plan.campaignFile,
            after: sent ?? Self.digests(run.earlierRuns(limit: Self.mostEarlierRuns)))
    }

    private static let mostEarlierRuns = 20

    /// The accounts that wrote the text of a campaign's file, since the campaign was sent last.
    private func writers(of text: String, in file: String, after sent: Set<String>) throws -> Set<String> {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        return try opened()?.writers(ofText: Self.digest(text), in: name, after: sent) ?? []
    }

    /// Digests of the texts of a campaign that were sent last: others have approved them.
    public func sentTexts(ofCampaign name: String, app: String) throws -> Set<String> {
        try Self.digests(files.catalog.lastStarted(of: name, app: app, limit: Self.mostEarlierRuns))
    }

    private static func digest(_ text: String) -> String { ShownFile.digest(of: Array(text.utf8)) }

    private static func digests(_ runs: [RunFile]) -> Set<String> {
        Set(
            runs.map { run in
                defer { run.close() }
                return digest(run.plan.campaignSource)
            })
    }

    /// What is known of a campaign with times before one of them is planned.
    public struct CampaignFacts: Sendable {
        /// The accounts that wrote it since it was sent last; a failure if the file of accounts is
        /// damaged.
        public var writers: Result<Set<String>, any Error>
        /// The accounts that requested the approval of that time; a failure if a request cannot be
        /// read.
        public var askers: Result<Set<String>, any Error>
        /// Its text as it is now.
        public var text: String
        /// The run that was begun last; nil for a campaign that was not sent before.
        public var last: RunPlan?
    }

    /// Looks at a campaign and one of its times; nil if no campaign has the name, or its file has
    /// mistakes.
    public func facts(ofCampaign name: String, at occurrence: String) throws -> CampaignFacts? {
        let now = Timestamp.now()
        guard let (app, file) = files.read(now: now).place(ofCampaign: name),
            let text = Campaign.draft(file: file, now: now).campaign?.source
        else { return nil }
        let earlier = try files.catalog.lastStarted(of: name, app: app, limit: Self.mostEarlierRuns)
        return CampaignFacts(
            writers: Result { try writers(of: text, in: file, after: Self.digests(earlier)) },
            askers: Result { try askers(ofCampaign: name, app: app, at: occurrence) }, text: text,
            last: earlier.first?.plan)
    }

    /// - Throws: `Diagnostic`: a request cannot be read, which may be that of the account that
    ///   wants to approve.
    private func askers(ofCampaign name: String, app: String?, at occurrence: String) throws -> Set<String> {
        let (requests, isDamaged) = try allTimeRequests(
            ActivityFilter(app: app, kind: .timeApprovalAsked, subject: name))
        guard !isDamaged else {
            throw Diagnostic(
                "a request for an approval ahead cannot be read, as the file of accounts is damaged",
                remedy: "Restore it from a backup.")
        }
        return Set(
            requests.filter { $0.app == app && $0.kind == .timeApprovalAsked(occurrence) }.compactMap(
                \.person.name?.text))
    }

    /// All requests to approve times of a campaign ahead, the newest first: an older one counts for
    /// four eyes, too.
    public func timeRequests(ofCampaign name: String, app: String?) throws -> [Activity] {
        try allTimeRequests(ActivityFilter(app: app, kind: .timeApprovalAsked, subject: name)).requests.filter {
            $0.app == app
        }
    }

    /// Requests to approve times of all campaigns ahead, the newest first.
    /// - Parameter moment: some that are older than this are left out.
    public func timeRequests(since moment: Timestamp) throws -> [Activity] {
        try allTimeRequests(ActivityFilter(kind: .timeApprovalAsked), since: moment).requests
    }

    private func allTimeRequests(_ filter: ActivityFilter, since moment: Timestamp = .distantPast) throws -> (
        requests: [Activity], isDamaged: Bool
    ) {
        guard let accounts = try opened() else { return ([], false) }
        var (requests, isDamaged, next): ([Activity], Bool, Int64?) = ([], false, nil)
        repeat {
            let page = try accounts.activities(filter, before: next, count: 500)
            requests += page.activities
            isDamaged = isDamaged || !page.damaged.isEmpty
            next = page.next
        } while next != nil && requests.last.map { $0.at >= moment } ?? true
        return (requests, isDamaged)
    }

    /// Whether a campaign file may name only files that the console may read: its content was
    /// written in the console, or that cannot be determined.
    public func confines(file: String) -> Bool {
        do {
            guard let accounts = try opened() else { return false }
            let bytes = try FilePaths.read(file, atMost: ShownFile.longestFile)
            return try accounts.isVersion(
                digest: ShownFile.digest(
                    of: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes))
        } catch { return true }
    }

    /// Why a person may not approve a coming time of a campaign although they have the right to
    /// approve: four eyes. nil if they may.
    public func fourEyes(_ facts: CampaignFacts, approver: String) throws -> OrderRefusal? {
        try fourEyes(writers: facts.writers.get(), askers: facts.askers.get(), approver: approver)
    }

    private func fourEyes(writers: Set<String>, askers: Set<String>, approver: String) throws -> OrderRefusal? {
        let ties = try opened()?.ties(at: .now()) ?? AccountTies([], at: .now())
        return FourEyes.refusal(writers: writers, askers: askers, approver: approver, ties)
    }

    /// Why a person may not approve a run although they have the right to approve: four eyes. nil
    /// if they may.
    /// - Parameter sent: as for `writers`.
    public func fourEyes(run id: String, approver: String, after sent: Set<String>? = nil) throws -> OrderRefusal? {
        let run = try files.catalog.open(id)
        defer { run.close() }
        let orders = try files.catalog.orders.open()
        defer { orders.close() }
        // The person that had the run made, with a plan or a retry, requested its approval.
        let askers = try orders.askers(ofRun: id)
        let writers = try writers(of: run, after: sent)
        return try fourEyes(writers: writers, askers: askers, approver: approver)
    }
}

/// Four eyes: a person that wrote a campaign, or requested its approval, cannot approve it,
/// administrators included; nor does an account that the same person may hold.
public enum FourEyes {
    /// Why a person may not approve; nil if they may.
    /// - Parameters:
    ///   - writers: the accounts that saved the version which was planned; empty if the file was
    ///     changed outside the console. Then only the author of the order counts.
    ///   - askers: the accounts that requested the approval; empty for a plan made at the terminal.
    ///   - approver: the account that wants to approve. Names are compared without regard to
    ///     capitals.
    ///   - ties: those that count now.
    public static func refusal(writers: Set<String>, askers: Set<String>, approver: String, _ ties: AccountTies)
        -> OrderRefusal?
    {
        func isAmong(_ names: Set<String>) -> Bool { names.contains { $0.lowercased() == approver.lowercased() } }
        if isAmong(writers) { return .wroteIt }
        if isAmong(askers) { return .askedForIt }
        guard let own = try? AccountName(approver) else { return .notPermitted }
        let bonds = writers.union(askers).sorted().compactMap { name in
            (try? AccountName(name)).flatMap { ties.bond(of: own, with: $0) }
        }
        return bonds.first.map { OrderRefusal.described($0.sentence) }
    }
}

/// A campaign file as a page showed it.
public enum ShownFile {
    /// Larger files are no campaigns.
    static let longestFile = 16 << 20

    /// The digest in an order about a campaign file: SHA-256 of the file's bytes, 64 lower-case hex
    /// digits.
    public static func digest(of bytes: [UInt8]) -> String { SHA256.hex(SHA256.digest(of: bytes)) }

    /// The bytes of a file, if they are those that were shown.
    /// - Returns: nil if they differ, or the file no longer exists.
    static func bytes(of file: String, digest: String) -> [UInt8]? {
        guard let bytes = try? RegularFile.bytes(of: file, atMost: longestFile), self.digest(of: bytes) == digest else {
            return nil
        }
        return bytes
    }
}
