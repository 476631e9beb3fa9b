import Base
import Campaigns
import Runs

/// volley.yaml as it is now, for a run that was planned before.
struct PresentProject {
    /// nil when the file is gone.
    let project: Project?
    /// nil when the app is gone from it.
    let app: App?
    /// What reading the file warned about.
    let warnings: [Diagnostic]
    private let plan: RunPlan

    /// - Throws: what is wrong with the file, if it is there or was named with `--config`.
    init(of plan: RunPlan, _ options: CommonOptions) throws {
        self.plan = plan
        let file = options.config ?? plan.projectFile
        guard options.config != nil || FilePaths.exists(file) else {
            (project, app, warnings) = (nil, nil, [])
            return
        }
        let (project, warnings) = try Project.read(file: file)
        (self.project, app, self.warnings) = (project, project.app(named: plan.app), warnings)
    }

    /// Compares where a plan goes, and as whom, with what the file says now: what was previewed may not go elsewhere, and a plan must not go
    /// where the file no longer sends anything.
    /// - Throws: `Diagnostic` with every difference.
    func checkUnchanged(_ settings: RunSettings) throws {
        guard let project else { return }
        guard let app else {
            throw changed(["the app '\(plan.app)' is no longer there"], in: project)
        }
        let now = try RunSettings(app, projectFile: project.file, pushType: settings.pushType)
        var changes: [String] = []
        func compare(_ name: String, _ then: String, _ now: String) {
            if then != now { changes.append("\(name) was \(then) and is \(now) now") }
        }
        compare("the environment", settings.environment.inFull, now.environment.inFull)
        compare("the topic", settings.topic, now.topic)
        compare("the key", settings.key?.inFull ?? "none", now.key?.inFull ?? "none")
        compare("the certificate", settings.certificate?.inFull ?? "none", now.certificate?.inFull ?? "none")
        guard changes.isEmpty else { throw changed(changes, in: project) }
    }

    private func changed(_ changes: [String], in project: Project) -> Diagnostic {
        Diagnostic(
            "this file was changed after \(plan.id) was planned: \(changes.joined(separator: "; "))", file: project.file,
            remedy: "Plan the campaign again, or take the change back; nothing was sent.")
    }
}

extension FrozenEnvironment {
    fileprivate var inFull: String {
        guard case .server(_, _, let authority?) = self else { return name }
        return "\(name) (ca \(authority))"
    }
}

extension FrozenKey {
    fileprivate var inFull: String { "\(keyID) of team \(teamID) in \(file)" }
}

extension FrozenCertificate {
    fileprivate var inFull: String { passphraseVariable.map { "\(file) (passphrase in \($0))" } ?? file }
}
