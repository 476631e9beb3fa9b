public import Workspace

/// A campaign's file, and the project that it belongs to, if one was named.
public struct CampaignFile: Sendable {
    /// Its path.
    public var path: String
    /// What the file will hold, where that is not saved yet; nil for what it holds.
    public var text: String?
    /// Which volley.yaml and which folder of runs to use.
    public var project: ProjectChoice
    /// Whether it names only files that the console may read (`ConsoleRoots`): where a browser shows what is in them, or a person without an
    /// account on the machine wrote it.
    public var isConfined = false

    /// A campaign file.
    public init(_ path: String, text: String? = nil, in project: ProjectChoice = ProjectChoice()) {
        self.path = path
        self.text = text
        self.project = project
    }
}
