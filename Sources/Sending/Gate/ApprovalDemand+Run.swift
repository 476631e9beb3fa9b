import Base
import Campaigns
import Runs

extension ApprovalDemand {
    /// Finds out whether approval is required now, for a run that was planned earlier.
    init(of run: RunFile, _ settings: RunSettings) {
        let file = run.plan.campaignFile
        let folder = FilePaths.folder(of: file)
        guard FilePaths.exists(run.plan.projectFile) else {
            self.init(ofMoved: run.plan, from: ["", run.catalog.place, folder])
            return
        }
        guard FilePaths.exists(folder) else {
            self = .unknown(
                "the folder of its campaign, \(folder), with its volley.yaml, does not exist or cannot be read")
            return
        }
        self.init(
            app: run.plan.app, campaignFile: file, realFile: settings.realCampaignFile ?? FilePaths.absolute(file))
    }

    /// Finds out for a plan whose volley.yaml is missing. Another volley.yaml counts as that file,
    /// moved, if the campaign is at the same place relative to it and is unchanged.
    /// - Parameter folders: the folders from which to search for volley.yaml.
    private init(ofMoved plan: RunPlan, from folders: [String]) {
        let former = FilePaths.folder(of: plan.projectFile)
        let place =
            plan.campaignFile.hasPrefix(former + "/")
            ? String(plan.campaignFile.dropFirst(former.count + 1)) : FilePaths.absolute(plan.campaignFile)
        for project in Set(folders.compactMap { Project.find(startingAt: $0) }).sorted() {
            let campaign = FilePaths.resolve(place, besideFile: project)
            guard let source = try? FilePaths.read(campaign), source == Array(plan.campaignSource.utf8) else {
                continue
            }
            self.init(app: plan.app, campaignFile: campaign, realFile: FilePaths.absolute(campaign))
            return
        }
        self = .unknown(
            "\(plan.projectFile), the volley.yaml of the plan, does not exist, and the unchanged campaign is not next to another one"
        )
    }
}
