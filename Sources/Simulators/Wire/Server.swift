import Base
import Cryptography
import Glibc
import HTTP2
import Synchronization

/// A summary that the server's thread writes and any thread reads.
final class SharedSummary: Sendable {
    private let value = Mutex(LedgerSummary())

    func read() -> LedgerSummary { value.withLock { $0 } }
    func publish(_ summary: LedgerSummary) { value.withLock { $0 = summary } }
}

/// The simulator's loop: it waits for sockets, reads requests, decides and answers. Only the thread
/// that runs `run()` uses it.
///
/// It waits with poll(2). Senders keep few connections, for which poll is as fast as epoll and
/// needs no registration.
final class Server {
    let faults: SimulatorFaults
    /// The time of this turn. Reading the clock for each request would cost more than deciding the
    /// request.
    @exclusivity(unchecked) private(set) var now = Timestamp.now()
    @exclusivity(unchecked) var ledger: Ledger
    private let usualProtocol: String
    private let listener: Listener
    private let context: TLSServerContext
    private let wakeSocket: Int32
    /// What the server saw, for other threads.
    let shared = SharedSummary()
    let callbacks: HTTP2ServerCallbacks
    let rules: any ServiceRules
    let keptBodyBytes: Int
    let ownHeaders: [StaticString]
    @exclusivity(unchecked) var plan: FaultPlan
    private var delayed = DelayedAnswers()
    /// Clients whose handshake is not complete.
    private var arrivals: [ClientSocket] = []
    private var connections: [Connection] = []
    /// The connections that speak HTTP/1.1.
    private var calls: [CallConnection] = []
    private var connectionCount = 0
    private var lastLedgerFlush = Timestamp.now()

    private static let readBytes = 64 << 10
    private static let ledgerFlushMilliseconds: Int64 = 100

    /// - Parameter wakeSocket: becomes readable when the server must stop.
    init(
        _ configuration: SimulatorConfiguration, rules: any ServiceRules, listener: consuming Listener,
        context: TLSServerContext,
        wakeSocket: Int32
    ) throws(Diagnostic) {
        faults = configuration.faults
        usualProtocol = rules.applicationProtocols(configuration).last ?? ""
        callbacks = try HTTP2ServerCallbacks(givesWindowsByHand: configuration.faults.windows != nil)
        self.listener = listener
        self.context = context
        self.wakeSocket = wakeSocket
        let file = try configuration.ledgerFile.map { path throws(Diagnostic) in
            try LedgerFile(path: path, recordsPayloads: configuration.recordsPayloads)
        }
        ledger = Ledger(file: file)
        self.rules = rules
        keptBodyBytes = rules.keptBodyBytes
        ownHeaders = rules.ownHeaders
        plan = FaultPlan(configuration.faults)
    }

    // MARK: The loop

    /// Serves until the wake socket becomes readable, then ends all connections with GOAWAY.
    func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.readBytes, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let ready = wait()
            now = .now()
            if ready.isWoken { break }
            for (connection, events) in zip(connections, ready.connections)
            where events != 0 || connection.hasMoreToRead {
                connection.advance(buffer: buffer)
            }
            for (call, events) in zip(calls, ready.calls) where events != 0 { call.advance(buffer: buffer) }
            let older = connections.count
            continueHandshakes(ready.arrivals, buffer: buffer)
            for connection in connections { connection.performDue() }
            releaseDueAnswers()
            for call in calls where call.takesAnswer(at: now) { answer(call) }
            endIdleConnections()
            // Publish before anything is written: a client that has its answer must find the push
            // in the summary.
            publish()
            for (connection, events) in zip(connections, ready.connections) where connection.mayWrite(events) {
                connection.flush()
            }
            for connection in connections[older...] where connection.mayWrite(0) { connection.flush() }
            for call in calls { call.flush() }
            connections.removeAll { $0.isClosed }
            calls.removeAll { $0.isClosed }
            acceptConnections()
            flushLedgerIfDue()
        }
        end()
    }

    /// The events of each socket, and whether the server must stop.
    private struct Readiness {
        let isWoken: Bool
        let arrivals, connections, calls: ArraySlice<Int16>
    }

    /// Waits for sockets or for the next thing that is due.
    private func wait() -> Readiness {
        var polled = [pollfd(fd: wakeSocket, events: Int16(POLLIN), revents: 0)]
        for socket in listener.sockets { polled.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
        for client in arrivals {
            polled.append(pollfd(fd: client.descriptor, events: client.awaitedEvents, revents: 0))
        }
        for connection in connections {
            polled.append(pollfd(fd: connection.client.descriptor, events: connection.awaitedEvents, revents: 0))
        }
        for call in calls { polled.append(pollfd(fd: call.client.descriptor, events: call.awaitedEvents, revents: 0)) }
        poll(&polled, nfds_t(polled.count), waitMilliseconds())
        let events = polled.dropFirst(1 + listener.sockets.count).map(\.revents)
        return Readiness(
            isWoken: polled[0].revents != 0, arrivals: events.prefix(arrivals.count),
            connections: events.dropFirst(arrivals.count).prefix(connections.count), calls: events.suffix(calls.count))
    }

    private func waitMilliseconds() -> Int32 {
        if connections.contains(where: \.hasMoreToRead) { return 0 }
        var longest: Int64 = -1
        func atMost(_ milliseconds: Int64) {
            longest = longest < 0 ? max(0, milliseconds) : min(longest, max(0, milliseconds))
        }
        if let due = delayed.nextDue { atMost(due.epochMilliseconds - Timestamp.now().epochMilliseconds) }
        for connection in connections {
            if let due = connection.alarms.next { atMost(due.epochMilliseconds - Timestamp.now().epochMilliseconds) }
        }
        for call in calls {
            if let due = call.answerDue { atMost(due.epochMilliseconds - Timestamp.now().epochMilliseconds) }
        }
        if ledger.isFileDirty { atMost(Self.ledgerFlushMilliseconds) }
        if faults.idleTimeoutSeconds > 0, !connections.isEmpty || !calls.isEmpty { atMost(250) }
        return Int32(longest)
    }

    private func acceptConnections() {
        for socket in listener.sockets {
            while let accepted = Listener.accept(on: socket) {
                connectionCount += 1
                do throws(Diagnostic) {
                    arrivals.append(try ClientSocket(number: connectionCount, accepted: accepted, context: context))
                } catch {
                    // Not enough memory: the client may try again.
                    close(accepted)
                }
            }
        }
    }

    /// Continues handshakes. A client whose handshake is complete may have sent its first request
    /// with the end of it.
    private func continueHandshakes(_ ready: ArraySlice<Int16>, buffer: UnsafeMutableRawBufferPointer) {
        for (client, events) in zip(arrivals, ready) where events != 0 && client.shakeHands() {
            let chosen = client.tls.negotiatedProtocol
            if (chosen.isEmpty ? usualProtocol : chosen) == "h2" {
                // Not enough memory: the client may try again.
                guard let connection = try? Connection(client, server: self) else {
                    client.close()
                    continue
                }
                connection.advance(buffer: buffer)
                connections.append(connection)
            } else {
                let call = CallConnection(client, server: self)
                call.advance(buffer: buffer)
                calls.append(call)
            }
        }
        arrivals.removeAll { !$0.isArriving }
    }

    private func endIdleConnections() {
        guard faults.idleTimeoutSeconds > 0 else { return }
        let limit = now.adding(seconds: -Double(faults.idleTimeoutSeconds))
        for connection in connections where connection.isIdle(since: limit) { end(connection, reason: "IdleTimeout") }
        for call in calls where call.isIdle(since: limit) { call.close() }
    }

    private func publish() {
        ledger.setProviderTokens(rules.acceptedCredentials)
        if let summary = ledger.takeChangedSummary() { shared.publish(summary) }
    }

    private func flushLedgerIfDue() {
        guard ledger.isFileDirty,
            now.epochMilliseconds - lastLedgerFlush.epochMilliseconds >= Self.ledgerFlushMilliseconds
        else { return }
        ledger.flush()
        lastLedgerFlush = now
    }

    /// Sends GOAWAY and close_notify on all connections, and finishes the ledger.
    private func end() {
        for connection in connections where !connection.isClosed { end(connection, reason: "Shutdown") }
        connections = []
        for call in calls { call.close() }
        calls = []
        arrivals = []
        delayed.removeAll()
        publish()
        ledger.flush()
        close(wakeSocket)
    }

    private func end(_ connection: Connection, reason: String) {
        connection.sayGoodbye(reason: reason)
        connection.close()
    }

    // MARK: Requests

    /// Decides whether the next request is answered before its payload arrives.
    func answersEarly(_ request: PushRequest) -> Bool { rules.isPush(request) && plan.answersEarly() }

    /// Decides whether a new connection is sent garbage instead of SETTINGS.
    func sendsGarbageFirst() -> Bool { faults.garbage?.afterPushes == 0 && plan.sendsGarbage() }

    /// Decides a request, and answers it now, later or never.
    /// - Parameter isEarly: whether only its headers have arrived.
    func decide(_ request: PushRequest, on connection: Connection, isEarly: Bool = false) {
        // One reference for all calls: each use of the property would be counted by itself.
        let rules = rules
        connection.withMemory { rules.decide(request, hasBody: !isEarly, memory: $0, now: ownClock) }
        if request.kind == .other { return answerAside(request, on: connection) }
        var fate = FaultPlan.Fate.accepted
        if request.answer.isAccepted, !isEarly { fate = plan.next() }
        switch fate {
        case .refusedStream: return connection.refuse(request)
        case .reset: return connection.reset(request, faults.resetErrorCode)
        case .gateway(let status, isPassedOn: false): return connection.answerAsGateway(request, status: status)
        case .refused(let answer): rules.refuse(request, as: answer)
        case .accepted, .silent, .resetAccepted, .gateway: break
        }
        if request.kind == .push {
            if request.answer.isAccepted { rules.take(request) }
            ledger.count(request, by: rules, now: now)
        }
        let consequences = connection.limits.note(request.answer, streamID: request.streamID)
        conclude(request, on: connection, fate: fate, isEarly: isEarly)
        for consequence in consequences { apply(consequence, to: connection) }
    }

    private func conclude(_ request: PushRequest, on connection: Connection, fate: FaultPlan.Fate, isEarly: Bool) {
        if connection.limits.ending != nil || fate != .accepted && request.answer.isAccepted {
            request.state = .finished
            if fate == .resetAccepted { connection.reset(request, faults.resetErrorCode) }
            if case .gateway(let status, _) = fate { connection.answerAsGateway(request, status: status) }
            record(request, of: connection, isAnswered: false)
        } else if faults.latencyMilliseconds > 0, !isEarly {
            hold(request, of: connection)
        } else {
            answer(request, of: connection)
            // After a refusal the stream ends with the payload: a reset would overtake the
            // refusal's reason.
            if isEarly, request.answer.isAccepted { connection.earlyAnswered.append(request.streamID) }
        }
    }

    /// Answers a request that is not a push.
    private func answerAside(_ request: PushRequest, on connection: Connection) {
        connection.limits.noteAside(streamID: request.streamID)
        faults.latencyMilliseconds > 0 ? hold(request, of: connection) : answer(request, of: connection)
    }

    /// Writes the lines of a request's pushes once it is known whether it was answered.
    func record(_ request: PushRequest, of connection: Connection, isAnswered: Bool) {
        guard request.kind == .push, let file = ledger.file else { return }
        file.append(request, describedBy: rules, connection: connection.number, isAnswered: isAnswered, now: now)
    }

    func apply(_ consequence: ConnectionLimits.Consequence, to connection: Connection) {
        switch consequence {
        case .announce(let limit): connection.announce(streamLimit: limit)
        case .dip: connection.dip()
        case .goAway(let reason): connection.goAway(reason: reason)
        case .gracefulGoAway: connection.beginGracefulGoAway()
        case .end: connection.prepareEnding()
        case .pingFlood: for _ in 0..<faults.pingFloodSize { connection.submitPing() }
        case .settingsFlood: for _ in 0..<faults.settingsFloodSize { connection.submit(settings: []) }
        case .strangeFrames: connection.writeStrangeFrames()
        case .garbage: if plan.sendsGarbage() { connection.writeGarbage() }
        }
    }

    private func hold(_ request: PushRequest, of connection: Connection) {
        request.state = .held
        let due = Timestamp(epochMilliseconds: now.epochMilliseconds + Int64(faults.latencyMilliseconds))
        delayed.append(
            DelayedAnswers.Entry(due: due, connection: connection, request: request, generation: request.generation))
    }

    /// The time on the server's clock, which `clockAheadSeconds` may shift.
    var ownClock: Timestamp { faults.clockAheadSeconds.map { now.adding(seconds: $0) } ?? now }

    private func answer(_ request: PushRequest, of connection: Connection) {
        let rules = rules
        let date = faults.clockAheadSeconds != nil && rules.showsClock(in: request.answer) ? ownClock.httpDate : nil
        let mayRetry = request.answer.status == 429 || request.answer.status == 503
        connection.submitAnswer(
            to: request, by: rules, retryAfterSeconds: mayRetry ? faults.retryAfterSeconds : nil, date: date,
            dressing: plan.nextDressing())
        record(request, of: connection, isAnswered: true)
    }

    private func releaseDueAnswers() {
        while let entry = delayed.takeDue(at: now) {
            guard !entry.connection.isClosed, entry.request.generation == entry.generation, entry.request.state == .held
            else { continue }
            answer(entry.request, of: entry.connection)
        }
    }
}

/// A queue of answers that are held back. All wait equally long, so the first in is the first out.
struct DelayedAnswers {
    /// A request with an answer that is due at a later time.
    struct Entry {
        let due: Timestamp
        let connection: Connection
        let request: PushRequest
        /// The use of the request object that is meant. If the stream has ended, the object may
        /// serve another request.
        let generation: Int
    }

    private var entries: [Entry] = []
    private var first = 0

    /// When the next answer is due; nil if none waits.
    var nextDue: Timestamp? { first < entries.count ? entries[first].due : nil }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// Removes and returns the next answer that is due; nil if no answer is due.
    mutating func takeDue(at now: Timestamp) -> Entry? {
        guard first < entries.count, entries[first].due <= now else { return nil }
        let entry = entries[first]
        first += 1
        // Taken entries are removed when they are more than half, so that each entry is moved once
        // on average.
        if first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }

    /// Drops all answers.
    mutating func removeAll() {
        entries = []
        first = 0
    }
}
