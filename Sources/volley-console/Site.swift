import Accounts
import Automation
import Base
import Campaigns
import Runs
import Workspace

/// What pages are made from.
final class Site: Sendable {
    /// The folder that `volley serve` names.
    let folder: String
    /// The volley.yaml that everything is read with.
    let projectFile: String
    let archive: RunArchive
    let campaigns: CampaignCache
    let rate = LiveRate()
    let reports: ReportCache
    let accounts: AccountStore
    let signIn: any SignIn
    /// The other way to sign in, through a provider; nil without one.
    let provider: ProviderSignIn?
    let orders: OrderSubmission
    let saving: CampaignSaving
    let jobs: PlanningJobs
    let sampled = SampledAudiences()
    let rights: AccountRights
    let startedAt: Timestamp

    /// - Parameters:
    ///   - program: the console's own binary.
    ///   - signIn: decides whether a person may enter.
    /// - Throws: `Diagnostic` or `Diagnostics`: there is no volley.yaml, or it has mistakes.
    init(
        folder: String, choice: ProjectChoice, accounts: AccountStore, program: String = "/proc/self/exe",
        signIn: (AccountStore) -> any SignIn = { AccountSignIn($0) }, at now: Timestamp
    ) throws {
        let path = try Self.projectFile(folder, choice)
        let project = try Project.read(file: path).0
        let catalog = project.catalog(choice)
        self.folder = folder
        projectFile = path
        archive = RunArchive(catalog)
        campaigns = CampaignCache(
            folder: folder, choice: ProjectChoice(file: path, runs: choice.runs), catalog: catalog)
        reports = ReportCache(catalog)
        provider = try project.console?.provider.map { try ProviderSignIn($0, of: project) }
        self.accounts = accounts
        self.signIn = signIn(accounts)
        orders = OrderSubmission(catalog.orders)
        saving = CampaignSaving(accounts, folder: folder)
        jobs = PlanningJobs(folder: folder, choice: campaigns.choice, program: program)
        rights = AccountRights(
            accounts, try ScheduleFiles([folder], catalog: catalog, in: campaigns.choice, memory: campaigns.times))
        startedAt = now
    }

    /// - Throws: there is no volley.yaml.
    static func projectFile(_ folder: String, _ choice: ProjectChoice) throws(Diagnostic) -> String {
        guard let path = choice.file ?? Project.find(startingAt: folder) else {
            throw Diagnostic(
                "there is no volley.yaml in this folder or above it", file: folder, remedy: "Name one with --config.")
        }
        return path
    }

    /// Notes what a person did, after it was done.
    func note(_ kind: ActivityKind, app: String?, subject: String?, _ visit: Visit) throws {
        guard let person = visit.person else { return }
        do {
            try accounts.note(
                kind, app: app, subject: subject, by: Actor(person.id, address: visit.requestOrigin.client),
                at: visit.now)
        } catch {
            throw Refusal.notNoted(error)
        }
    }

    /// Where runs are kept.
    var catalog: RunsFolder { archive.catalog }

    /// volley.yaml as it is now.
    /// - Throws: `Diagnostics`: it has mistakes now.
    func project() throws -> Project { try Project.read(file: projectFile).0 }

    /// Whether a process sends what is scheduled and ordered.
    var isSenderAtWork: Bool { catalog.schedule.isAtWork }
}
