package import Base
package import PushServices

/// Decides about recipients that a killed process left claimed and without an outcome, at a service
/// that recognizes repeats. A value.
package struct CallReview: Hashable, Sendable {
    /// Calls that are sent again under their names, to the same recipients.
    package private(set) var repeats: [NamedCall] = []
    /// Recipients of a push that was never handed to the wire, or was refused. Ascending.
    package private(set) var unsent: [Int] = []
    /// Recipients that may have the push, of calls that the service may have forgotten. Ascending.
    package private(set) var unknown: [Int] = []
    /// Numbers of calls that say nothing more about any recipient.
    package private(set) var over: [Int] = []

    /// Reviews calls with names that the service gave out.
    ///
    /// A call may have been sent unless all its recipients are settled. If one of them is in a
    /// later call, the service refused it before as a whole: a call that is in doubt is never
    /// divided. If some are settled and others are not, the answer came. What an answer settles is
    /// recorded together, so it refused the call because of those targets, and nothing was sent to
    /// the others. Versions that recorded the outcomes of a call in several groups also left halves
    /// of accepted calls; the other recipients of these have the push.
    /// - Parameters:
    ///   - calls: of the service, in the order in which they were named.
    ///   - lost: recipients of the service that were claimed and have no outcome; ascending.
    ///   - outcomes: what is recorded of some recipients. Called only if a call is recorded in
    ///     part.
    package init(
        _ calls: [NamedCall], lost: [Range<Int>], names: FetchedNames, at now: Timestamp,
        outcomes: (Set<Int>) throws -> [Int: Outcome]
    ) rethrows {
        var latest: [Int: Int] = [:]
        var doubted: Set<Int> = []
        for (place, call) in calls.enumerated() {
            for recipient in call.recipients where Self.contains(recipient, lost) {
                if call.name.isEmpty { doubted.insert(recipient) } else { latest[recipient] = place }
            }
        }
        var kept: Set<Int> = []
        var refused: Set<Int> = []
        var partial: [Int] = []
        for place in Set(latest.values).sorted() {
            let call = calls[place]
            let isWhole = call.recipients.allSatisfy { latest[$0] == place }
            if isWhole, now < call.namedAt.adding(seconds: names.usableSeconds) {
                repeats.append(call)
                kept.insert(place)
            } else if call.recipients.contains(where: { latest[$0] ?? -1 > place }) {
                refused.insert(place)
            } else if !isWhole {
                partial.append(place)
            }
        }
        if !partial.isEmpty {
            func settled(_ place: Int) -> [Int] { calls[place].recipients.filter { !Self.contains($0, lost) } }
            let known = try outcomes(Set(partial.flatMap(settled)))
            refused.formUnion(partial.filter { place in settled(place).allSatisfy { known[$0] == .invalidToken } })
        }
        for recipient in lost.lazy.joined() {
            guard let place = latest[recipient] else {
                if doubted.contains(recipient) { unknown.append(recipient) } else { unsent.append(recipient) }
                continue
            }
            if kept.contains(place) { continue }
            if refused.contains(place), !doubted.contains(recipient) {
                unsent.append(recipient)
            } else {
                unknown.append(recipient)
            }
        }
        let repeated = Set(repeats.lazy.flatMap(\.recipients))
        for (place, call) in calls.enumerated() where !kept.contains(place) {
            if call.name.isEmpty, call.recipients.contains(where: repeated.contains) { continue }
            over.append(call.number)
        }
    }

    /// What is recorded as the name of a request that named a text. The service does not recognize
    /// such a request.
    static let textName = "text"

    /// Reviews pushes with derived names: they go again under their last generation as long as the
    /// service recognizes it. Those that left last in a request that named a text are unknown.
    /// - Parameters:
    ///   - calls: of the service, in the order in which they were named; their names are
    ///     generations, or `textName`.
    ///   - lost: as above.
    ///   - claimedAt: when the first of some recipients were claimed.
    package init(
        _ calls: [NamedCall], lost: [Range<Int>], windowSeconds: Double, claimedAt: (Range<Int>) throws -> Timestamp?,
        at now: Timestamp
    ) rethrows {
        var latest: [Int: Timestamp] = [:]
        var withoutNames: Set<Int> = []
        for call in calls where !call.name.isEmpty {
            for recipient in call.recipients where Self.contains(recipient, lost) {
                latest[recipient] = call.namedAt
                if call.name == Self.textName { withoutNames.insert(recipient) } else { withoutNames.remove(recipient) }
            }
        }
        let oldest = now.adding(seconds: -windowSeconds)
        for range in lost {
            let old = Set(try Self.recipients(of: range, claimedBefore: oldest, claimedAt))
            unknown += range.filter { recipient in
                withoutNames.contains(recipient) || latest[recipient].map { $0 <= oldest } ?? old.contains(recipient)
            }
        }
    }

    /// The recipients of a range that were claimed no later than a moment. Neighbours may have been
    /// claimed at different times.
    private static func recipients(
        of range: Range<Int>, claimedBefore oldest: Timestamp, _ claimedAt: (Range<Int>) throws -> Timestamp?
    ) rethrows -> [Int] {
        if let claimed = try claimedAt(range), claimed > oldest { return [] }
        guard range.count > 1 else { return Array(range) }
        let middle = range.lowerBound + range.count / 2
        return try recipients(of: range.lowerBound..<middle, claimedBefore: oldest, claimedAt)
            + recipients(of: middle..<range.upperBound, claimedBefore: oldest, claimedAt)
    }

    /// The generation of each recipient that has one beyond the first.
    /// - Parameter calls: in the order in which they were named.
    package static func generations(of calls: [NamedCall]) -> [Int: UInt16] {
        var generations: [Int: UInt16] = [:]
        for call in calls {
            guard let generation = UInt16(call.name) else { continue }
            for recipient in call.recipients { generations[recipient] = generation }
        }
        return generations
    }

    private static func contains(_ recipient: Int, _ ranges: [Range<Int>]) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound > recipient { high = middle } else { low = middle + 1 }
        }
        return low < ranges.count && ranges[low].contains(recipient)
    }
}
