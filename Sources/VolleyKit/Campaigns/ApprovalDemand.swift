import Base
import Campaigns
import Runs

/// Whether the volley.yaml that is found from a campaign's file, by its name and behind its links, demands approval of what its app sends: neither
/// `--config` nor a link leads past that. Nothing else of it counts, as it may be another project's.
enum ApprovalDemand: Hashable {
    /// It demands none, has no such app, or there is none.
    case none
    /// The file that demands it.
    case made(by: String)
    /// Nobody can tell: the file, or the campaign's folder, may be away for a moment only. Why, as a clause.
    case unknown(String)

    /// Whether nothing may be sent that nobody approved.
    var binds: Bool { self != .none }

    /// As it is now, for a run that was planned before.
    package init(of run: RunStore, _ settings: RunSettings) {
        let file = run.plan.campaignFile
        let folder = FilePaths.folder(of: file)
        guard FilePaths.exists(run.plan.projectFile) else {
            self.init(ofMoved: run.plan, from: ["", FilePaths.folder(of: run.path), folder])
            return
        }
        guard FilePaths.exists(folder) else {
            self = .unknown("the folder of its campaign, \(folder), is not there or cannot be looked into, with the volley.yaml in it")
            return
        }
        self.init(app: run.plan.app, campaignFile: file, realFile: settings.realCampaignFile ?? FilePaths.absolute(file))
    }

    /// Of a plan whose volley.yaml is gone. Another one is that file, moved, if the campaign as it was planned lies beside it as it did: at the same place
    /// below it.
    /// - Parameter folders: from which volley.yaml is looked for.
    private init(ofMoved plan: RunPlan, from folders: [String]) {
        let former = FilePaths.folder(of: plan.projectFile)
        let place =
            plan.campaignFile.hasPrefix(former + "/")
            ? String(plan.campaignFile.dropFirst(former.count + 1)) : FilePaths.absolute(plan.campaignFile)
        for project in Set(folders.compactMap { Project.find(startingAt: $0) }).sorted() {
            let campaign = FilePaths.resolve(place, besideFile: project)
            guard let source = try? FilePaths.read(campaign), source == Array(plan.campaignSource.utf8) else { continue }
            self.init(app: plan.app, campaignFile: campaign, realFile: FilePaths.absolute(campaign))
            return
        }
        self = .unknown(
            "\(plan.projectFile), by which it was planned, is not there, nor is the campaign beside another volley.yaml as it was")
    }

    /// - Parameter realFile: the campaign's file with its links resolved. Its folder may be gone, as after a rotation.
    package init(app: String, campaignFile: String, realFile: String) {
        self = .none
        for file in [campaignFile, realFile] {
            guard self == .none, let project = Project.find(startingAt: FilePaths.folder(of: file)) else { continue }
            do throws(Diagnostics) {
                if try Project.read(file: project).0.app(named: app)?.needsApproval ?? false { self = .made(by: project) }
            } catch { self = .unknown("\(project), the nearest to the campaign, cannot be read") }
        }
    }
}
