import Base
import Cryptography
import Glibc
import HTTP2

/// The deliberate faults of a connection: see `SimulatorFaults`.
extension Connection {
    /// How long a client may take to close its side after the simulator has closed the other.
    private static let timeoutMilliseconds: Int64 = 5_000
    /// How long GOAWAY waits for further pushes to leave out.
    private static let leavingOutMilliseconds: Int64 = 100
    /// poll(2): the peer has closed its side (POLLRDHUP). The constant is in a part of the system's
    /// headers that Swift does not import.
    static let peerClosed: Int16 = 0x2000

    private func alarm(_ alarm: ConnectionAlarms.Alarm, afterMilliseconds milliseconds: Int64) {
        alarms.set(alarm, moment: Timestamp(epochMilliseconds: server.now.epochMilliseconds + milliseconds))
    }

    /// Performs the alarms that are due.
    func performDue() {
        while let alarm = alarms.takeDue(at: server.now) {
            switch alarm {
            case .goAway: goAway(reason: "Shutdown")
            case .streamLimit: server.apply(limits.rise(), to: self)
            case .windows: giveWindowsBack()
            case .abandonment: close()
            }
        }
    }

    // MARK: GOAWAY

    func beginGracefulGoAway() {
        submitShutdownNotice()
        alarm(.goAway, afterMilliseconds: Int64(server.faults.gracefulGoAwayMilliseconds))
    }

    /// Whether a complete request is left out, because GOAWAY will name an earlier stream as the
    /// last.
    func leavesOut(_ request: PushRequest) -> Bool {
        switch limits.leaveOut(streamID: request.streamID) {
        case .no: return false
        case .yes(let isFirst): if isFirst { alarm(.goAway, afterMilliseconds: Self.leavingOutMilliseconds) }
        case .complete: goAway(reason: "Shutdown")
        }
        request.state = .finished
        return true
    }

    // MARK: Limits

    /// Lowers the stream limit to 1 for a while.
    func dip() {
        announce(streamLimit: limits.streamLimit)
        let milliseconds = server.faults.streamLimitDipMilliseconds
        if milliseconds > 0 { alarm(.streamLimit, afterMilliseconds: Int64(milliseconds)) }
    }

    /// Raises the stream limit again if it waits for all streams to end, and they have.
    func riseIfDrained() {
        if server.faults.streamLimitDipMilliseconds == 0, openStreams == 0 { server.apply(limits.rise(), to: self) }
    }

    /// Notes payload bytes for which the window is given back later.
    func oweWindow(_ bytes: Int, streamID: Int32) {
        owedWindows?.append(bytes, streamID: streamID, now: server.now)
        setWindowAlarm()
    }

    private func giveWindowsBack() {
        for owed in owedWindows?.takeDue(at: server.now) ?? [] {
            giveWindow(owed.streamBytes, streamID: owed.streamID)
            if owed.connectionBytes > 0 { giveWindow(owed.connectionBytes, streamID: 0) }
        }
        setWindowAlarm()
    }

    private func setWindowAlarm() {
        if let due = owedWindows?.nextDue { alarms.set(.windows, moment: due) }
    }

    // MARK: Bytes that are not answers

    /// A frame's header: RFC 9113 section 4.1.
    private static func frameHeader(length: Int, type: UInt8, flags: UInt8 = 0, streamID: Int32) -> [UInt8] {
        let stream = UInt32(bitPattern: streamID)
        return [
            UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags, UInt8(stream >> 24),
            UInt8(stream >> 16 & 255),
            UInt8(stream >> 8 & 255), UInt8(stream & 255),
        ]
    }

    /// Writes PRIORITY, two frames of an unknown type, and an unknown setting.
    func writeStrangeFrames() {
        let unknownType: UInt8 = 0xFA, priorityType: UInt8 = 2
        rawBytes += Self.frameHeader(length: 5, type: priorityType, streamID: limits.lastStreamID) + [0, 0, 0, 0, 15]
        rawBytes += Self.frameHeader(length: 8, type: unknownType, flags: 255, streamID: 0) + [1, 2, 3, 4, 5, 6, 7, 8]
        rawBytes += Self.frameHeader(length: 0, type: unknownType, streamID: limits.lastStreamID)
        submit(settings: [(Setting(rawValue: 0xFAFA), 1)])
    }

    /// Writes pseudorandom bytes that depend only on the connection's number, so that failures are
    /// reproducible. The first byte makes them a frame of more than eight million bytes, which no
    /// client allows.
    func writeGarbage() {
        var random = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        for index in 0..<256 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            rawBytes.append(UInt8(random >> 56) | (index == 0 ? 0x80 : 0))
        }
        if server.faults.garbage?.thenCloses == true { limits.ending = .withoutNotify }
    }

    /// Writes garbage instead of SETTINGS, on a connection that will not process any push.
    func writeGarbageFirst() {
        limits.isDeaf = true
        writeGarbage()
    }

    // MARK: Endings

    /// Queues the bytes that an ending begins with.
    func prepareEnding() {
        guard limits.ending == .midFrame else { return }
        // The start of the answer that the last push would have got: END_STREAM and END_HEADERS,
        // `:status` 200, and then nothing of the 40 bytes.
        rawBytes += Self.frameHeader(length: 40, type: 1, flags: 5, streamID: limits.lastStreamID) + [0x88, 0x00, 0x07]
    }

    /// Ends the connection as a fault requires, after everything that was due is written.
    func end(_ ending: ConnectionLimits.Ending) {
        switch ending {
        case .cut, .reset: close()
        case .midFrame, .withoutNotify: closeOurSide()
        case .withoutGoAway:
            client.tls.shutdown()
            closeOurSide()
        case .silence:
            dropRequests()
            phase = .silent
            awaitedEvents = Self.peerClosed
        }
    }

    private func closeOurSide() {
        Glibc.shutdown(client.descriptor, Int32(SHUT_WR))
        dropRequests()
        phase = .lingering
        awaitedEvents = Int16(POLLIN)
        alarm(.abandonment, afterMilliseconds: Self.timeoutMilliseconds)
    }

    /// Reads and drops what the client still sends, and closes once the client has closed its side.
    func discard(into buffer: UnsafeMutableRawBufferPointer) {
        while true {
            let count = recv(client.descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { continue }
            if count == 0 || errno != EAGAIN && errno != EINTR { close() }
            return
        }
    }
}
