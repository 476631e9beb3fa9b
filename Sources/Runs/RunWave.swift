public import Base

/// A part of a run's recipients with its own sending time, for example each device at nine by its own clock. Waves
/// follow one another in the order of ids.
public struct RunWave: Hashable, Sendable {
    /// The recipients in it; never empty.
    public var ids: Range<Int>
    /// A zone whose clock its devices share, as the tz database calls it: other zones that show the same time at these
    /// hours are in it too.
    public var zone: String
    /// When it goes out at the earliest.
    public var due: Timestamp

    /// A wave.
    public init(ids: Range<Int>, zone: String, due: Timestamp) {
        self.ids = ids
        self.zone = zone
        self.due = due
    }
}
