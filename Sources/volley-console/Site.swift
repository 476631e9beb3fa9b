import Automation
import Base
import Campaigns
import Runs
import Workspace

/// What pages are made from.
final class Site: Sendable {
    /// The folder that `volley serve` names.
    let folder: String
    /// The volley.yaml by which everything is read.
    let projectFile: String
    let archive: RunArchive
    let campaigns: CampaignShelf
    let rate = LiveRate()
    let reports: ReportShelf
    let signIn: any SignIn
    let startedAt: Timestamp

    /// - Throws: `Diagnostic` or `Diagnostics`: there is no volley.yaml, or it has mistakes.
    init(folder: String, choice: ProjectChoice, signIn: (any RunCatalog) throws -> any SignIn, at now: Timestamp) throws {
        guard let path = choice.file ?? Project.find(startingAt: folder) else {
            throw Diagnostic("there is no volley.yaml in this folder or above it", file: folder, remedy: "Name one with --config.")
        }
        let project = try Project.read(file: path).0
        let catalog = project.catalog(choice)
        self.folder = folder
        projectFile = path
        archive = RunArchive(catalog)
        campaigns = CampaignShelf(folder: folder, choice: ProjectChoice(file: path, runs: choice.runs), catalog: catalog)
        reports = ReportShelf(catalog)
        self.signIn = try signIn(catalog)
        startedAt = now
    }

    /// Where runs are kept.
    var catalog: any RunCatalog { archive.catalog }

    /// volley.yaml as it is now.
    /// - Throws: `Diagnostics`: it has mistakes by now.
    func project() throws -> Project { try Project.read(file: projectFile).0 }

    /// Whether a process sends what is scheduled and ordered.
    var isSenderAtWork: Bool { catalog.schedule.isAtWork }
}
