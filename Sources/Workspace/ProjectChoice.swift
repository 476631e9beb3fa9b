public import Base
public import Campaigns
public import Runs

/// Which volley.yaml and which folder of runs to use, if they were named.
///
/// ```swift
/// let choice = ProjectChoice(file: "/srv/shop/volley.yaml")
/// let runs = try Project.catalog(choice)
/// ```
public struct ProjectChoice: Sendable {
    /// volley.yaml; nil looks next to the campaign file, then upward.
    public var file: String?
    /// Folder of run files; nil means the one that volley.yaml names.
    public var runs: String?
    /// Whether a run is to be stopped: of volley.yaml only what that needs must be right.
    public var isForStopping = false
    /// Receives the progress of the conversion of older runs.
    public var conversions: Observer<RunConversion> = .silent

    /// A choice; without arguments, nothing is chosen.
    public init(file: String? = nil, runs: String? = nil) {
        self.file = file
        self.runs = runs
    }
}

extension Project {
    /// Reads volley.yaml for commands without a campaign: the chosen one, or the nearest from the
    /// current folder upward.
    public static func find(with choice: ProjectChoice) throws -> Project? {
        guard let path = choice.file ?? Project.find(startingAt: ".") else { return nil }
        return try choice.isForStopping ? Project.readToStop(file: path) : Project.read(file: path).0
    }

    /// Where runs are kept: the chosen folder, or the one that volley.yaml names.
    public func catalog(_ choice: ProjectChoice) -> RunsFolder {
        Self.catalog(at: choice.runs ?? FilePaths.resolve(runs, besideFile: file), choice)
    }

    /// Where runs are kept, for commands that can do without volley.yaml.
    public static func catalog(_ choice: ProjectChoice) throws -> RunsFolder {
        if let runs = choice.runs { return catalog(at: runs, choice) }
        return try find(with: choice)?.catalog(choice) ?? catalog(at: "runs", choice)
    }

    /// The same for commands that make no runs.
    /// - Throws: `Diagnostic` also if the folder that was named does not exist.
    public static func presentCatalog(_ choice: ProjectChoice) throws -> RunsFolder {
        let catalog = try catalog(choice)
        guard let runs = choice.runs, !catalog.isThere else { return catalog }
        throw Diagnostic(
            "there is no such folder of runs", file: runs,
            remedy: FilePaths.nearest(to: runs).map { "Did you mean \($0)?" }
                ?? "Check the path; it is relative to the current folder.")
    }

    /// The only place that decides how runs are kept.
    private static func catalog(at path: String, _ choice: ProjectChoice) -> RunsFolder {
        // The accounts are in a separate folder.
        for folder in [path, FilePaths.join(path, name: "console")] { ProtectedFiles.keep(in: folder) }
        return RunsFolder(path, observer: choice.conversions)
    }
}
