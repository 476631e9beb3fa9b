import Base

@testable import Delivery

/// What happens to a campaign from outside.
extension SimulatedCampaign {
    func scheduleWorld() {
        let now = clock.now
        if epoch == 0 || random.oneIn(3), let after = nature.interruptAfter { agenda.add(.interrupt, at: now + after) }
        if let gate = nature.gateClosed {
            agenda.add(.gateCloses, at: now + gate.lowerBound)
            agenda.add(.gateOpens, at: now + gate.upperBound)
        }
        for _ in 0..<nature.wallSteps { agenda.add(.wallClockSteps, at: now + random.span(0, 10 * Span.second)) }
        for _ in 0..<nature.sleeps { agenda.add(.machineSleeps, at: now + random.span(0, 20 * Span.second)) }
    }

    func happen(_ happening: Happening) {
        switch happening {
        case .arrive(let loop, let push, let serial): loops[loop].arrive(push, serial)
        case .deliver(let loop, let delivery): loops[loop].receive(delivery)
        case .peer(let turn, let loop, let connection, let generation):
            loops[loop].peerActs(turn, connection, generation)
        case .read: read()
        case .fetchBegins(let plan): beginFetch(plan)
        case .fetchEnds(let askedAt): endFetch(askedAt: askedAt)
        case .namerLooks(let plan): if plan == namerPlan { look() }
        case .namesCommitted(let answers): commit(answers)
        case .namesDelivered(let answers): deliver(answers)
        case .namesFetched(let askedAt): endFetch(askedAt: askedAt)
        case .textKept(let text, let askedAt): endKeeping(text, askedAt: askedAt)
        case .commit:
            isCommitDue = false
            record(unrecorded)
            unrecorded.removeAll(keepingCapacity: true)
            tick()
        case .interrupt:
            trace("interrupt")
            tally.note(.interrupted)
            loopGroup.control.interrupt()
            wakeAll(within: SimulatedLoop.wakeDelay)
        case .helperStarts: startHelper()
        case .gateCloses:
            trace("the gate closes")
            tally.note(.gateClosed)
            loopGroup.control.closeGate()
        case .gateOpens:
            trace("the gate opens")
            loopGroup.control.openGate()
            wakeAll(within: SimulatedLoop.wakeDelay)
        case .wallClockSteps:
            let step = Int64(random.between(-3_600_000, 3_600_000))
            trace("the wall clock steps by \(step / 1000) s")
            clock.stepWall(milliseconds: step)
            tally.note(.wallClockStepped)
            wakeAll(within: SimulatedLoop.wakeDelay)
        case .machineSleeps: fallAsleep()
        }
    }

    /// The machine is suspended: its monotonic clock stops, the world continues.
    private func fallAsleep() {
        let span = random.span(Span.second, random.oneIn(2) ? 90 * Span.minute : Span.minute)
        trace("the machine sleeps for \(span / Span.second) s")
        tally.note(.machineSlept)
        clock.sleep(span)
        for loop in loops { loop.postpone(by: span) }
        // What its programs would have done in the meantime, they do afterwards.
        clock.move(to: clock.now + span)
        lastProgress += span
    }

    private func startHelper() {
        guard loops.count < nature.loops, !loops.contains(where: \.isOver) else { return }
        loopGroup.askForHelp()
        guard loopGroup.waitForHelpWanted() else { return }
        trace("loop \(loops.count) starts")
        tally.note(.helperStarted)
        loops.append(SimulatedLoop(self, index: loops.count, isHelper: true))
        agenda.add(.helperStarts, at: clock.now + random.span(0, nature.helperAfter))
    }

    func wakeAll(within nanoseconds: Int64) {
        for loop in loops where !loop.isOver { loop.wake(by: clock.now + random.span(0, nanoseconds)) }
    }

    // MARK: Reader and recorder

    private func read() {
        let wasClosed = source.isClosed
        let hasStepped = source.step(&account, at: clock.moment.wall)
        tick()
        if hasStepped {
            for loop in loops where loop.isSourceEmpty {
                loop.wake(by: clock.now + random.span(0, 2 * Span.millisecond))
            }
        }
        if source.isClosed {
            if !wasClosed { wakeAll(within: SimulatedLoop.wakeDelay) }
        } else if !source.waitsForRoom {
            var pause = random.span(0, 3 * Span.millisecond)
            if random.happens(nature.sourcePauses) {
                pause = random.span(0, nature.longestPause)
                tally.note(.sourcePaused)
            }
            agenda.add(.read, at: clock.now + pause)
        }
        lastProgress = clock.now
    }

    /// A loop takes a batch; the reader may continue.
    func takeBatch() -> SourceBatch? {
        let batch = source.take()
        if batch != nil, source.waitsForRoom, !source.isClosed { agenda.add(.read, at: clock.now) }
        if batch != nil, source.isFinished { wakeAll(within: SimulatedLoop.wakeDelay) }
        return batch
    }

    /// Settlements on their way into the run file.
    func put(_ settlements: [Settlement]) {
        unrecorded += settlements
        guard !isCommitDue else { return }
        isCommitDue = true
        agenda.add(.commit, at: clock.now + random.span(0, 60 * Span.millisecond))
    }

    func record(_ settlements: [Settlement]) {
        for settlement in settlements {
            record(settlement.recipient, settlement.outcome, status: settlement.status, reason: settlement.reason)
        }
    }

    func record(_ recipient: Int, _ outcome: Outcome, status: Int = 0, reason: String = "") {
        if let mistake = account.record(recipient, outcome, status: status, reason: reason) {
            violate(.settlesOnce, mistake)
        }
    }

    // MARK: Provider tokens

    /// The index of a token that a loop has. When it is first seen, it was just minted.
    func noteToken(_ token: ServiceToken) -> Int {
        if let known = tokenHistory.lastIndex(where: { $0.text == token.value }) { return known }
        precondition(fetched == nil, "the server knows every token that it gave")
        let now = clock.now
        if let last = tokenHistory.last {
            tally.note(now - last.seenAt >= 50 * Span.minute ? .tokenGrewOld : .tokenRenewed)
            if now - last.seenAt < 20 * Span.minute {
                violate(.tokenMinted, "a token was minted \((now - last.seenAt) / Span.second) s after the last")
            }
        }
        let issuedAt = IssuedAt.read(from: token.value)
        if issuedAt != clock.moment.wall.epochSeconds {
            violate(.tokenAge, "a new token says \(issuedAt) where the clock says otherwise")
        }
        tokenHistory.append(SeenToken(text: token.value, seenAt: now, issuedAt: issuedAt))
        trace("a token is minted")
        return tokenHistory.count - 1
    }
}

/// The claim `iat` of a provider token.
enum IssuedAt {
    static func read(from token: String) -> Int64 {
        var bits: UInt32 = 0
        var count = 0
        var part = 0
        var isReading = false
        var last: [UInt8] = [0, 0, 0]
        var value: Int64 = 0
        for byte in token.utf8 {
            if byte == UInt8(ascii: ".") {
                part += 1
                if part == 2 { break }
                continue
            }
            guard part == 1 else { continue }
            bits = bits << 6 | digit(byte)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            let plain = UInt8(truncatingIfNeeded: bits >> UInt32(count))
            if isReading {
                guard plain >= UInt8(ascii: "0"), plain <= UInt8(ascii: "9") else {
                    if plain == UInt8(ascii: ":") || plain == UInt8(ascii: "\"") { continue }
                    return value
                }
                value = value * 10 + Int64(plain - UInt8(ascii: "0"))
            } else {
                last = [last[1], last[2], plain]
                isReading = last == Array("iat".utf8)
            }
        }
        return value
    }

    private static func digit(_ byte: UInt8) -> UInt32 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        default: 63
        }
    }
}
