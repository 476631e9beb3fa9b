import Base
package import Campaigns

/// Which volley.yaml and which folder of runs count, as far as somebody said.
public struct ProjectChoice: Sendable {
    /// volley.yaml; nil looks beside the campaign file, then upward.
    public var file: String?
    /// Folder of run files; nil takes the one of volley.yaml.
    public var runs: String?

    /// A choice; nothing said, nothing chosen.
    public init(file: String? = nil, runs: String? = nil) {
        self.file = file
        self.runs = runs
    }
}

extension Project {
    /// volley.yaml for commands without a campaign: the one that was chosen, or found from the current folder upward.
    package static func find(with choice: ProjectChoice) throws -> Project? {
        guard let path = choice.file ?? Project.find(startingAt: ".") else { return nil }
        return try Project.read(file: path).0
    }

    /// The folder of run files: the one that was chosen, or that of volley.yaml.
    package func runsFolder(_ choice: ProjectChoice) -> String {
        choice.runs ?? FilePaths.resolve(runs, besideFile: file)
    }

    /// The folder of run files for commands that can do without volley.yaml.
    package static func runsFolder(_ choice: ProjectChoice) throws -> String {
        if let runs = choice.runs { return runs }
        if let project = try find(with: choice) { return project.runsFolder(choice) }
        return "runs"
    }
}
