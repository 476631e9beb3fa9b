/// Which members of a run are dead, as one of them judges: those whose beat stood still for long while it could have seen it move.
///
/// Time is the observer's own, by a clock that cannot be set, and counts only while it was connected: who comes back from a long sleep, or from a
/// database that was away, declares nobody dead for it. No clock of two machines is compared. A value without a clock.
struct MemberWatch {
    /// A member is dead when its beat stood still for so long; seconds.
    static let silenceSeconds = 30.0
    /// The most that counts between two looks, which are a second apart; seconds. What is longer was a sleep of the observer.
    static let longestStepSeconds = 2.0

    /// A member as it was seen.
    struct Silence: Hashable {
        var member: String
        /// The beat at which it stands still. It is dead only if it still does when that is recorded.
        var beat: Int64
    }

    private var silences: [String: (beat: Int64, seconds: Double)] = [:]
    private var lastLook: Double?
    private var life: Int64 = 0

    /// Takes the beats of the others as the database shows them.
    /// - Parameters:
    ///   - beats: of those that are not on record as dead.
    ///   - life: of the database (`RollCall`). In another one beats may have been forgotten, and who seems to stand still may have moved: silences begin anew.
    ///   - seconds: the observer's own time.
    /// - Returns: those that are silent for too long, sorted.
    mutating func look(at beats: [String: Int64], life: Int64 = 0, _ seconds: Double) -> [Silence] {
        let step = lastLook.map { min(max(0, seconds - $0), Self.longestStepSeconds) } ?? 0
        lastLook = seconds
        if life != self.life { silences = [:] }
        self.life = life
        silences = beats.reduce(into: [:]) { next, entry in
            let (member, beat) = entry
            let known = silences[member].flatMap { $0.beat == beat ? $0.seconds + step : nil } ?? 0
            next[member] = (beat, known)
        }
        return silences.filter { $0.value.seconds >= Self.silenceSeconds }
            .map { Silence(member: $0.key, beat: $0.value.beat) }.sorted { $0.member < $1.member }
    }

    /// The database could not be asked: what passes until it can be does not count.
    mutating func disconnected() { lastLook = nil }
}
