public import Base

/// What holds a sender up right now. Facts only: the code that shows them chooses the words.
public enum SendWait: Hashable, Sendable {
    /// The store that the run is shared through does not answer, so nothing more is submitted.
    case store
    /// There is no connection to the server yet, or none since the last one was lost.
    case connection
    /// The service has taken nothing for this many seconds.
    case outage(seconds: Int)
    /// There has been no token for this many seconds, and one is being fetched; why the last attempt failed, blank if none did.
    case credential(seconds: Int, trouble: String = "")
    /// The sender has used up its quota, and nothing leaves before this moment.
    case quota(until: Timestamp)
    /// The first pushes go ahead of all others, and this many of their answers are missing.
    case canary(answers: Int)
    /// All pushes are on their way: `answers` are missing, and `again` pushes were refused for now and wait for another attempt.
    case last(answers: Int, again: Int)
    /// The service was overloaded, so pushes leave at this lower rate.
    case throttle(perSecond: Double)
    /// Every stream that the server allows is in use.
    case server
    /// The pace.
    case pace
}

extension SendWait {
    /// Returns what the loops of a sender wait for as a whole; nil if nothing holds up the sender.
    /// - Parameter waits: what each loop waits for; nil for a loop that nothing holds up.
    package static func together(_ waits: [SendWait?]) -> SendWait? {
        let known = waits.compactMap(\.self)
        // The gate is the whole sender's.
        if known.contains(.store) { return .store }
        // All loops wait for the same token.
        let fetches = known.compactMap { if case .credential(let seconds, let trouble) = $0 { (seconds, trouble) } else { nil } }
        if let (seconds, trouble) = fetches.max(by: { $0.0 < $1.0 }) { return .credential(seconds: seconds, trouble: trouble) }
        // A quota is the whole sender's.
        let holds = known.compactMap { if case .quota(let until) = $0 { until } else { nil } }
        if let latest = holds.max() { return .quota(until: latest) }
        // An outage or a throttle concerns the service, which all loops share.
        let outages = known.compactMap { if case .outage(let seconds) = $0 { seconds } else { nil } }
        if let longest = outages.max() { return .outage(seconds: longest) }
        let rates = known.compactMap { if case .throttle(let rate) = $0 { rate } else { nil } }
        if !rates.isEmpty { return .throttle(perSecond: rates.reduce(0, +)) }
        guard known.count == waits.count, let first = known.first else { return nil }
        let rest = known.filter { if case .last = $0 { false } else { true } }
        if let other = rest.first { return other }
        return known.dropFirst().reduce(first) { sum, wait in
            guard case .last(let answers, let again) = sum, case .last(let more, let moreAgain) = wait else { return sum }
            return .last(answers: answers + more, again: again + moreAgain)
        }
    }
}

extension DeliveryMachine {
    /// What keeps pushes from leaving, or the run from ending; nil if nothing does.
    func wait(at now: Moment) -> SendWait? {
        guard end == nil else { return nil }
        if waitsAtGate { return .store }
        guard openPushes > 0 else { return nil }
        if let hold = hold(at: now) { return hold }
        if let since = serviceHealth.lastsSince { return .outage(seconds: Int((now.nanoseconds - since) / 1_000_000_000)) }
        if let since = namesMissingSince { return .outage(seconds: Int((now.nanoseconds - since) / 1_000_000_000)) }
        guard !fresh.isEmpty || !again.isEmpty else {
            return isSourceEnded || ending != nil ? .last(answers: inFlightCount, again: waitingPushes) : nil
        }
        if let since = credentialPendingSince {
            return .credential(seconds: Int((now.nanoseconds - since) / 1_000_000_000), trouble: credentialTrouble)
        }
        if inFlightCount == 0, !connections.contains(where: { $0.state == .open }) { return restsForPace(at: now) ? .pace : .connection }
        if !canaryAllowsNext { return .canary(answers: canary.awaited) }
        if let rate = throttle.rate, rate < settings.slowestPace { return .throttle(perSecond: rate) }
        if connectionWithRoom() == nil { return .server }
        return pacer == nil && paceShares.isEmpty ? nil : .pace
    }

    /// How many connections can take pushes.
    var openConnections: Int { connections.count { $0.state == .open } }

    /// Whether there is or may be something to submit, and the gate is closed.
    private var waitsAtGate: Bool {
        gateClosedSince != nil && ending == nil && !isExpired && !(isSourceEnded && fresh.isEmpty && again.isEmpty)
    }

    /// What the quota makes the sender wait for; nil if nothing. A hold that outlasts the run's patience is an outage.
    private func hold(at now: Moment) -> SendWait? {
        guard ending == nil, let until = quota.until, until > now.nanoseconds else { return nil }
        if let since = quota.since, let end = quotaPatienceEnds, until > end {
            return .outage(seconds: Int((now.nanoseconds - since) / 1_000_000_000))
        }
        return .quota(until: now.adding(nanoseconds: until - now.nanoseconds).wall)
    }

    private var waitingPushes: Int { waiting.requests.reduce(0) { $0 + Int(pushes[$1].count) } }

    /// With a pace of one push in many minutes, a connection is opened only when the push is nearly due.
    private func restsForPace(at now: Moment) -> Bool {
        ownPaceTime.map { $0 - now.nanoseconds > Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds) } ?? false
    }
}
