public import Planning
public import Workspace

/// The options that most commands share.
public struct CommonOptions: Sendable {
    /// `--config` and `--runs`.
    public var project: ProjectChoice
    /// What planning may use; nil for what is needed.
    public var memory: MemoryBudget?
    /// Threads that deliver at most; nil for as many as there are cores.
    public var threads: Int?
    /// Whether the result is one JSON document.
    public var isJSON: Bool

    /// Options.
    public init(project: ProjectChoice = ProjectChoice(), memory: MemoryBudget? = nil, threads: Int? = nil, isJSON: Bool = false) {
        self.project = project
        self.memory = memory
        self.threads = threads
        self.isJSON = isJSON
    }
}
