package import Audience
package import Base
package import Content

/// What happens while a campaign is planned or previewed.
package enum PlanningEvent: Sendable {
    /// What it is planned from.
    case sources(project: String, exports: [String])
    /// Devices that are left out, and the list on which they are.
    case suppressed(Int, list: String)
    /// Comes often while the exports are read: also a sign of life.
    case reading(ScanProgress, seconds: Double)
    /// How far they are is not known.
    case readingSomewhere
    /// They are read once more, for samples of texts that few devices get.
    case readingAgain
    case readingEnds
    case lint(Lint)
    case warnings([Diagnostic])
    /// A test device does not get a text, in words.
    case testSkipped(device: String, token: Target, text: String, RenderFailure)
}

/// Who is told what happens while a campaign is planned or previewed.
package typealias PlanningObserver = Observer<PlanningEvent>

/// Who looks on while a campaign is planned or previewed, and may end it.
package struct PlanningAttendance: Sendable {
    package var observer: PlanningObserver
    package var cancellation: Cancellation
    /// What planning may use; nil for all that it needs.
    package var memory: MemoryBudget?

    /// Somebody.
    package init(observer: PlanningObserver, cancellation: Cancellation, memory: MemoryBudget? = nil) {
        self.observer = observer
        self.cancellation = cancellation
        self.memory = memory
    }
}
