/// One request while it is read, checked and answered. Requests are pooled: a connection creates
/// only as many as it has streams open at once, and reading a further push allocates no memory.
///
/// Its properties are not checked for overlapping access: only one thread uses them, no access
/// calls code that could use them again, and the checks would cost a tenth of the server's time.
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

    /// What a request is for.
    enum Kind {
        /// A push: it meets faults, and is in the ledger.
        case push
        /// A push that the sender only wants to have checked, or that the service took before: it
        /// meets faults, but is not in the ledger.
        case dryRun
        /// Another request, of a token for example: it meets no faults of pushes, and is not in the
        /// ledger.
        case other
    }

    /// What a push is for, as the rules of a service read it in the body.
    struct Addressee {
        /// The kind of target: `token`, `topic`.
        var kind: String
        var target: String
        /// What the service calls the accepted push; empty if it was refused.
        var id = ""
        /// What the sender calls it, or the request that carries it; nil where it has no name.
        var name: String?
        /// The result of this push, where it differs from the results of other pushes of the
        /// request; nil if not.
        var answer: Answer?
    }

    /// The range of a header's value in `bytes`; the header is absent if the count is negative.
    private struct Place {
        var start: Int32 = 0
        var count: Int32 = -1
    }

    /// The bytes of a payload that are kept unless a service accepts larger ones.
    static let usualBodyBytes = 8192

    private let keptPayloadBytes: Int

    @exclusivity(unchecked) private(set) var bytes = ByteArena(capacity: 2048)
    @exclusivity(unchecked) private var places = InlineArray<10, Place>(repeating: Place())
    @exclusivity(unchecked) private var payloadStart = 0
    /// The payload's size in bytes, kept or not.
    @exclusivity(unchecked) private(set) var payloadBytes = 0
    /// Whether a header that may occur only once occurred twice.
    @exclusivity(unchecked) private(set) var hasDuplicateHeader = false
    @exclusivity(unchecked) var state = State.idle
    @exclusivity(unchecked) var streamID: Int32 = 0
    /// The number of uses of this object, which distinguishes an earlier use from the present one.
    @exclusivity(unchecked) private(set) var generation = 0
    /// The answer, once the request is decided.
    @exclusivity(unchecked) var answer = Answer.accepted
    /// The answer's body, for services with rules that write it when they decide. It is no part of
    /// `answer`, which is copied often.
    @exclusivity(unchecked) var answerText: [UInt8] = []
    /// The part of the answer's body that is not sent yet.
    @exclusivity(unchecked) var unsentBody: ArraySlice<UInt8> = []
    /// Whether trailers follow the body.
    @exclusivity(unchecked) var hasTrailers = false
    @exclusivity(unchecked) var kind = Kind.push
    /// Further headers of the answer, for services with rules that write them when they decide.
    @exclusivity(unchecked) var answerFields: [AnswerField] = []
    /// The recipients of the request's pushes, if the body names them; empty if the path names
    /// them, or nothing does.
    @exclusivity(unchecked) var addressees: [Addressee] = []

    /// The names of the service's own headers, and their values.
    private let ownNames: [StaticString]
    @exclusivity(unchecked) private var ownPlaces: [Place]

    /// - Parameters:
    ///   - keptPayloadBytes: the bytes of a payload that are kept: more than any payload limit, so
    ///     that every payload that is checked is complete.
    ///   - ownHeaders: see `ServiceRules.ownHeaders`.
    init(keptPayloadBytes: Int = PushRequest.usualBodyBytes, ownHeaders: [StaticString] = []) {
        self.keptPayloadBytes = keptPayloadBytes
        ownNames = ownHeaders
        ownPlaces = ownHeaders.map { _ in Place() }
    }

    /// Prepares the object for a new stream.
    func begin(streamID: Int32) {
        bytes.removeAll()
        places = InlineArray(repeating: Place())
        for index in ownPlaces.indices { ownPlaces[index] = Place() }
        payloadStart = 0
        payloadBytes = 0
        hasDuplicateHeader = false
        state = .receiving
        kind = .push
        if !addressees.isEmpty { addressees.removeAll(keepingCapacity: true) }
        if !answerFields.isEmpty { answerFields = [] }
        generation += 1
        self.streamID = streamID
    }

    /// The number of pushes that the request carries.
    var pushCount: Int { max(1, addressees.count) }

    /// The result of one of the pushes.
    func answer(to push: Int) -> Answer { addressees.isEmpty ? answer : addressees[push].answer ?? answer }

    /// The recipient of the push, of services with one push in a request; nil if the body does not
    /// name it.
    var addressee: Addressee? {
        get { addressees.first }
        set { addressees = newValue.map { [$0] } ?? [] }
    }

    /// Adds a header if the rules read it.
    /// - Parameter name: in lower-case letters.
    func add(named name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if let known = HeaderName(name) { return add(known, value) }
        guard !ownNames.isEmpty, let index = ownNames.firstIndex(where: { areEqual(name, $0.bytes) }) else { return }
        guard ownPlaces[index].count < 0 else {
            hasDuplicateHeader = true
            return
        }
        ownPlaces[index] = keep(value)
    }

    /// Adds a header. The first value of a duplicate stays.
    func add(_ name: HeaderName, _ value: UnsafeBufferPointer<UInt8>) {
        guard places[name.rawValue].count < 0 else {
            hasDuplicateHeader = true
            return
        }
        place(name, value)
    }

    /// Adds a piece of the payload. All headers come before the first piece.
    func addPayload(_ piece: UnsafeBufferPointer<UInt8>) {
        if payloadBytes == 0 { payloadStart = bytes.count }
        if payloadBytes < keptPayloadBytes {
            bytes.append(UnsafeBufferPointer(rebasing: piece.prefix(keptPayloadBytes - payloadBytes)))
        }
        payloadBytes += piece.count
    }

    /// Gives the request a header that is absent or invalid.
    func replace(_ name: HeaderName, by value: [UInt8]) { value.withUnsafeBufferPointer { place(name, $0) } }

    private func place(_ name: HeaderName, _ value: UnsafeBufferPointer<UInt8>) {
        places[name.rawValue] = keep(value)
    }

    private func keep(_ value: UnsafeBufferPointer<UInt8>) -> Place {
        let place = Place(start: Int32(bytes.count), count: Int32(value.count))
        bytes.append(value)
        return place
    }

    /// A header's value, valid until the request changes; nil if the header is absent.
    subscript(name: HeaderName) -> UnsafeBufferPointer<UInt8>? {
        let place = places[name.rawValue]
        return place.count < 0 ? nil : bytes[Int(place.start)..<Int(place.start + place.count)]
    }

    /// The value of a header of the service's own; nil if it is absent.
    func own(_ name: StaticString) -> [UInt8]? {
        guard let index = ownNames.firstIndex(where: { areEqual($0.bytes, name.bytes) }), ownPlaces[index].count >= 0
        else { return nil }
        let place = ownPlaces[index]
        return Array(bytes[Int(place.start)..<Int(place.start + place.count)])
    }

    /// Whether the body is said to be of a media type. Parameters do not matter, not even malformed
    /// ones (JPush's own SDK writes `charset:utf-8`), except a `charset` that is not UTF-8.
    func isBody(of mediaType: String) -> Bool {
        guard let value = self[.contentType] else { return false }
        let parts = String(decoding: value, as: UTF8.self).lowercased().split(separator: ";").map { part in
            part.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        return parts.first == mediaType
            && parts.dropFirst().allSatisfy { !$0.hasPrefix("charset=") || $0 == "charset=utf-8" }
    }

    /// The kept part of the payload, valid until the request changes.
    var payload: UnsafeBufferPointer<UInt8> { bytes[payloadStart..<payloadStart + min(payloadBytes, keptPayloadBytes)] }
}

/// The headers with quick access in a request. A request also keeps the headers that its service's
/// rules read (`ServiceRules.ownHeaders`), and no others.
enum HeaderName: Int, CaseIterable {
    case method, path, authorization, topic, pushType, id, expiration, priority, collapseID, contentType

    /// The name as HTTP/2 writes it.
    var text: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authorization: "authorization"
        case .topic: "apns-topic"
        case .pushType: "apns-push-type"
        case .id: "apns-id"
        case .expiration: "apns-expiration"
        case .priority: "apns-priority"
        case .collapseID: "apns-collapse-id"
        case .contentType: "content-type"
        }
    }

    /// Recognises a name, by its length first; nil for a header that the simulator ignores.
    init?(_ name: UnsafeBufferPointer<UInt8>) {
        let candidate: HeaderName
        switch name.count {
        case 5: candidate = .path
        case 7: candidate = name[0] == UInt8(ascii: ":") ? .method : .id
        case 10: candidate = .topic
        case 12: candidate = .contentType
        case 13: candidate = name[1] == UInt8(ascii: "u") ? .authorization : .priority
        case 14: candidate = .pushType
        case 15: candidate = .expiration
        case 16: candidate = .collapseID
        default: return nil
        }
        guard areEqual(name, candidate.text.bytes) else { return nil }
        self = candidate
    }
}
