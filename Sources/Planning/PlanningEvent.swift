public import Audience
public import Base
public import Content

/// What happens while a campaign is planned or previewed.
public enum PlanningEvent: Sendable {
    /// The files that it is planned from.
    case sources(project: String, exports: [String])
    /// Devices that are suppressed, and the list that they are on.
    case suppressed(Int, list: String)
    /// A database is queried for devices. Comes often, like `reading`.
    case querying(QueryProgress)
    /// Progress in reading the exports. Comes often, so it is also a sign of life.
    case reading(ScanProgress, seconds: Double)
    /// The exports are read, and how far is not known.
    case readingSomewhere
    /// The exports are read again, for samples of texts that few devices get.
    case readingAgain
    case readingEnds
    case lint(Lint)
    case warnings([Diagnostic])
    /// A test device does not get a text, which is described in words.
    case testSkipped(device: String, token: Target, text: String, RenderFailure)
}

/// The closure that gets the events of planning or previewing a campaign.
public typealias PlanningObserver = Observer<PlanningEvent>

/// Watches a campaign being planned or previewed, may cancel it, and limits its memory.
///
/// ```swift
/// let options = PlanOptions(
///     observer: PlanningObserver { if case .warnings(let warnings) = $0 { print(warnings) } },
///     cancellation: try Cancellation())
/// ```
public struct PlanOptions: Sendable {
    package var observer: PlanningObserver
    package var cancellation: Cancellation
    /// How much memory planning may use; nil for as much as it needs.
    package var memory: MemoryBudget?

    /// Options; without `memory`, planning may use as much as it needs.
    public init(observer: PlanningObserver, cancellation: Cancellation, memory: MemoryBudget? = nil) {
        self.observer = observer
        self.cancellation = cancellation
        self.memory = memory
    }
}
