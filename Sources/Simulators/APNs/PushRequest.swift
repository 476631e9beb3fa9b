/// One request while it is read, checked and answered. Requests are pooled: a connection creates only as many as it has streams open at
/// once, and reading a further push allocates no memory.
///
/// Its properties are not checked for overlapping access: only one thread uses them, no access calls code that could use them again,
/// and the checks would cost a tenth of the server's time.
final class PushRequest {
    /// The states of a request.
    enum State {
        /// Not in use.
        case idle
        /// Headers or payload are still arriving.
        case receiving
        /// Checked, with its answer held back.
        case held
        /// Answered, or never to be answered.
        case finished
    }

    /// The range of a header's value in `bytes`; the header is absent if the count is negative.
    private struct Place {
        var start: Int32 = 0
        var count: Int32 = -1
    }

    /// The payload bytes that are kept: more than any payload limit, so that every payload that is checked is complete.
    private static let keptPayloadBytes = 8192

    @exclusivity(unchecked) private(set) var bytes = ByteArena(capacity: 2048)
    @exclusivity(unchecked) private var places = InlineArray<9, Place>(repeating: Place())
    @exclusivity(unchecked) private var payloadStart = 0
    /// The payload's size in bytes, kept or not.
    @exclusivity(unchecked) private(set) var payloadBytes = 0
    /// Whether a header that may occur only once occurred twice.
    @exclusivity(unchecked) private(set) var hasDuplicateHeader = false
    /// The range of the token's hex digits in `bytes`; nil if the path does not lead to a device. The digits are not checked here.
    @exclusivity(unchecked) private(set) var token: Range<Int>?
    @exclusivity(unchecked) var state = State.idle
    @exclusivity(unchecked) var streamID: Int32 = 0
    /// The number of uses of this object, which distinguishes an earlier use from the present one.
    @exclusivity(unchecked) private(set) var generation = 0
    /// The answer, once the request is decided.
    @exclusivity(unchecked) var answer = Answer.accepted
    /// The part of the answer's body that is not sent yet.
    @exclusivity(unchecked) var unsentBody: ArraySlice<UInt8> = []
    /// Whether trailers follow the body.
    @exclusivity(unchecked) var hasTrailers = false

    /// Prepares the object for a new stream.
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

    /// Adds a header. The first value of a duplicate stays.
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

    /// Adds a piece of the payload. All headers come before the first piece.
    func addPayload(_ piece: UnsafeBufferPointer<UInt8>) {
        if payloadBytes == 0 { payloadStart = bytes.count }
        if payloadBytes < Self.keptPayloadBytes {
            bytes.append(UnsafeBufferPointer(rebasing: piece.prefix(Self.keptPayloadBytes - payloadBytes)))
        }
        payloadBytes += piece.count
    }

    /// Gives the request an apns-id if its own is absent or invalid.
    func replaceID(_ id: [UInt8]) { id.withUnsafeBufferPointer { place(.id, $0) } }

    private func place(_ name: HeaderName, _ value: UnsafeBufferPointer<UInt8>) {
        places[name.rawValue] = Place(start: Int32(bytes.count), count: Int32(value.count))
        bytes.append(value)
    }

    /// A header's value, valid until the request changes; nil if the header is absent.
    subscript(name: HeaderName) -> UnsafeBufferPointer<UInt8>? {
        let place = places[name.rawValue]
        return place.count < 0 ? nil : bytes[Int(place.start)..<Int(place.start + place.count)]
    }

    /// The kept part of the payload, valid until the request changes.
    var payload: UnsafeBufferPointer<UInt8> { bytes[payloadStart..<payloadStart + min(payloadBytes, Self.keptPayloadBytes)] }

    /// The digits of the token, valid until the request changes; nil if the path does not lead to a device.
    var tokenDigits: UnsafeBufferPointer<UInt8>? { token.map { bytes[$0] } }

    /// The beginning of every path to a device.
    static let devicePath: StaticString = "/3/device/"
}
