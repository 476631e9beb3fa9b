import Base
package import Campaigns
package import Runs

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

    /// Where runs are kept: the folder that was chosen, or that of volley.yaml.
    package func catalog(_ choice: ProjectChoice) -> any RunCatalog {
        Self.catalog(at: choice.runs ?? FilePaths.resolve(runs, besideFile: file))
    }

    /// Where runs are kept, for commands that can do without volley.yaml.
    package static func catalog(_ choice: ProjectChoice) throws -> any RunCatalog {
        if let runs = choice.runs { return catalog(at: runs) }
        return try find(with: choice)?.catalog(choice) ?? catalog(at: "runs")
    }

    /// The one place where it is decided how runs are kept.
    private static func catalog(at path: String) -> any RunCatalog { RunFolder(path) }
}
