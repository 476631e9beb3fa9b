/// One request while it is read, checked and answered. Requests are pooled: a connection makes as many as it had streams open at once, and
/// reading a further push allocates nothing.
///
/// Its properties are not checked for overlapping access: one thread uses them, no access calls out to code that could reach them again,
/// and the checks cost a tenth of the whole server's time.
final class PushRequest {
    /// Where a request stands.
    enum State {
        /// Not in use.
        case idle
        /// Headers or payload are still coming in.
        case receiving
        /// Checked, its answer is held back.
        case held
        /// Answered, or never to be answered.
        case finished
    }

    /// A header's value within `bytes`; absent when its count is negative.
    private struct Place {
        var start: Int32 = 0
        var count: Int32 = -1
    }

    /// The longest beginning of a payload that is kept: more than any limit, so that nothing that is looked at is missing.
    private static let keptPayloadBytes = 8192

    @exclusivity(unchecked) private(set) var bytes = ByteArena(capacity: 2048)
    @exclusivity(unchecked) private var places = InlineArray<9, Place>(repeating: Place())
    @exclusivity(unchecked) private var payloadStart = 0
    /// Bytes of the payload, kept or not.
    @exclusivity(unchecked) private(set) var payloadBytes = 0
    /// Whether a header that may stand only once stood twice.
    @exclusivity(unchecked) private(set) var hasDuplicateHeader = false
    /// The hex digits of the token within the path; nil when the path does not lead to a device. Digits are not looked at.
    @exclusivity(unchecked) private(set) var token: Range<Int>?
    @exclusivity(unchecked) var state = State.idle
    @exclusivity(unchecked) var streamID: Int32 = 0
    /// Counts the uses of this object, so that a note about an earlier use can be told from one about this.
    @exclusivity(unchecked) private(set) var generation = 0
    /// The answer once there is one.
    @exclusivity(unchecked) var answer = Answer.accepted
    /// What of the answer's body is still to be sent.
    @exclusivity(unchecked) var unsentBody: ArraySlice<UInt8> = []
    /// Whether trailers follow the body.
    @exclusivity(unchecked) var hasTrailers = false

    /// Makes it ready for a new stream.
    func begin(streamID: Int32) {
        bytes.removeAll()
        places = InlineArray(repeating: Place())
        payloadStart = 0
        payloadBytes = 0
        hasDuplicateHeader = false
        token = nil
        state = .receiving
        generation += 1
        self.streamID = streamID
    }

    /// Takes a header. The first value of a duplicate stays.
    func add(_ name: HeaderName, _ value: UnsafeBufferPointer<UInt8>) {
        guard places[name.rawValue].count < 0 else {
            hasDuplicateHeader = true
            return
        }
        place(name, value)
        guard name == .path, value.count > Self.devicePath.utf8CodeUnitCount else { return }
        let (prefix, digits) = (
            value.prefix(Self.devicePath.utf8CodeUnitCount), bytes.count - value.count + Self.devicePath.utf8CodeUnitCount
        )
        if areEqual(UnsafeBufferPointer(rebasing: prefix), Self.devicePath.bytes) { token = digits..<bytes.count }
    }

    /// Takes a further piece of the payload. All headers came before it.
    func addPayload(_ piece: UnsafeBufferPointer<UInt8>) {
        if payloadBytes == 0 { payloadStart = bytes.count }
        if payloadBytes < Self.keptPayloadBytes {
            bytes.append(UnsafeBufferPointer(rebasing: piece.prefix(Self.keptPayloadBytes - payloadBytes)))
        }
        payloadBytes += piece.count
    }

    /// Gives the request an apns-id, where its own is absent or invalid.
    func replaceID(_ id: [UInt8]) { id.withUnsafeBufferPointer { place(.id, $0) } }

    private func place(_ name: HeaderName, _ value: UnsafeBufferPointer<UInt8>) {
        places[name.rawValue] = Place(start: Int32(bytes.count), count: Int32(value.count))
        bytes.append(value)
    }

    /// A header's value, valid until the request changes; nil when the header is absent.
    subscript(name: HeaderName) -> UnsafeBufferPointer<UInt8>? {
        let place = places[name.rawValue]
        return place.count < 0 ? nil : bytes[Int(place.start)..<Int(place.start + place.count)]
    }

    /// What was kept of the payload, valid until the request changes.
    var payload: UnsafeBufferPointer<UInt8> { bytes[payloadStart..<payloadStart + min(payloadBytes, Self.keptPayloadBytes)] }

    /// The digits of the token, valid until the request changes; nil when the path does not lead to a device.
    var tokenDigits: UnsafeBufferPointer<UInt8>? { token.map { bytes[$0] } }

    /// What every path begins with.
    static let devicePath: StaticString = "/3/device/"
}
