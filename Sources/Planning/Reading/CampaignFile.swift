public import Workspace

/// A campaign's file, and the project that it belongs to as far as somebody said.
public struct CampaignFile: Sendable {
    /// Its path.
    public var path: String
    /// Which volley.yaml and which folder of runs count.
    public var project: ProjectChoice

    /// A file.
    public init(_ path: String, in project: ProjectChoice = ProjectChoice()) {
        self.path = path
        self.project = project
    }
}
