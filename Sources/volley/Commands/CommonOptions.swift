public import Planning
public import Workspace

/// The options that most commands share.
public struct CommonOptions: Sendable {
    /// `--config` and `--runs`.
    public var project: ProjectChoice
    /// The memory that planning may use; nil for all that it needs.
    public var memory: MemoryBudget?
    /// The most threads that deliver; nil for one per core.
    public var threads: Int?
    /// Whether the result is one JSON document.
    public var isJSON: Bool

    /// Creates the options.
    public init(
        project: ProjectChoice = ProjectChoice(), memory: MemoryBudget? = nil, threads: Int? = nil, isJSON: Bool = false
    ) {
        self.project = project
        self.memory = memory
        self.threads = threads
        self.isJSON = isJSON
    }
}
