import Base

/// The rules of APNs behind the simulators' wire: `RequestChecker` decides, and every answer has
/// the push's apns-id.
final class APNsRules: ServiceRules {
    /// What a connection has proved about its sender.
    private final class Memory: ConnectionMemory {
        @exclusivity(unchecked) var trust: ConnectionTrust

        init(_ trust: ConnectionTrust) { self.trust = trust }
    }

    let speaksHTTP1 = false
    let keptBodyBytes = PushRequest.usualBodyBytes
    @exclusivity(unchecked) private var checker: RequestChecker

    init(_ configuration: SimulatorConfiguration) { checker = RequestChecker(configuration) }

    var acceptedCredentials: Int { checker.acceptedProviderTokens }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory {
        Memory(ConnectionTrust(certificate: certificate))
    }

    let ownHeaders = [ChannelRules.channelHeader, ChannelRules.requestIDHeader]

    func isPush(_ request: PushRequest) -> Bool { ChannelRules.isPush(request) }

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        // Every memory comes from `makeMemory`. A cast that is checked would cost more than some of
        // the request's checks.
        let memory = unsafeDowncast(memory, to: Memory.self)
        if request.tokenDigits == nil, let id = request.own(ChannelRules.requestIDHeader) {
            request.replace(.id, by: id)
        }
        if !request.answerText.isEmpty { request.answerText = [] }
        request.answer = checker.check(request, hasPayload: hasBody, trust: &memory.trust, now: now)
        if request[.id] == nil || request.answer.reason == "BadMessageId" { request.replace(.id, by: Self.newID()) }
    }

    func refuse(_ request: PushRequest, as fault: Answer) { request.answer = fault }

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let isAboutChannels = request.tokenDigits == nil && ChannelRules.subject(of: request) != nil
        return (
            isAboutChannels ? ChannelRules.requestIDHeader : "apns-id",
            request[.id] ?? UnsafeBufferPointer(start: nil, count: 0)
        )
    }

    func body(of request: PushRequest) -> [UInt8] {
        request.kind == .other && request.answer.reason.isEmpty ? request.answerText : request.answer.body
    }

    func showsClock(in answer: Answer) -> Bool { answer.status == 403 }

    func marks(of push: Int, in request: PushRequest) -> LedgerMarks? { request.apnsMarks }

    /// Adds `token` (whole, as in the path: this file is a test's ground truth; null for a
    /// broadcast, which has `channel`), `apns_id`, `status`, `reason`, `topic`, `push_type`,
    /// `priority`, `expiration`, `collapse_id`, `payload_bytes`. Headers are text as the sender
    /// wrote it, or null if absent.
    func describe(_ push: Int, of request: PushRequest, in file: LedgerFile) {
        file.add(",\"token\":", request.tokenDigits)
        if let channel = request.own(ChannelRules.channelHeader) {
            channel.withUnsafeBufferPointer { file.add(",\"channel\":", $0) }
        }
        file.add(",\"apns_id\":", request[.id])
        file.add(",\"status\":")
        file.add(number: request.answer.status)
        file.add(",\"reason\":\"")
        file.add(plain: request.answer.reason)
        file.add("\"")
        file.add(",\"topic\":", request[.topic])
        file.add(",\"push_type\":", request[.pushType])
        file.add(",\"priority\":", request[.priority])
        file.add(",\"expiration\":", request[.expiration])
        file.add(",\"collapse_id\":", request[.collapseID])
        file.add(",\"payload_bytes\":")
        file.add(number: request.payloadBytes)
    }

    private static func newID() -> [UInt8] {
        var bytes: [UInt8] = []
        PushID(runSeed: .random(), recipient: 0).append(to: &bytes)
        return bytes
    }
}

extension PushRequest {
    /// The beginning of every path to a device.
    static let devicePath: StaticString = "/3/device/"

    /// The digits of the token, valid until the request changes; nil if the path does not lead to a
    /// device. They are not checked here.
    var tokenDigits: UnsafeBufferPointer<UInt8>? {
        let prefix = Self.devicePath.bytes
        guard let path = self[.path], path.count > prefix.count,
            areEqual(UnsafeBufferPointer(rebasing: path[..<prefix.count]), prefix)
        else { return nil }
        return UnsafeBufferPointer(rebasing: path[prefix.count...])
    }

    fileprivate var apnsMarks: LedgerMarks? {
        guard let id = self[.id] else { return nil }
        guard let token = tokenDigits else {
            return own(ChannelRules.channelHeader).map {
                LedgerMarks(target: TokenHash(text: String(decoding: $0, as: UTF8.self)), id: TokenHash(hexDigits: id))
            }
        }
        return LedgerMarks(target: TokenHash(hexDigits: token), id: TokenHash(hexDigits: id))
    }
}

extension Answer {
    static func badRequest(_ reason: String) -> Answer { Answer(status: 400, reason: reason) }
    static func forbidden(_ reason: String) -> Answer { Answer(status: 403, reason: reason) }

    /// The JSON body of APNs; empty for 200.
    var body: [UInt8] {
        guard !isAccepted else { return [] }
        let since = invalidSinceMilliseconds.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(since)}".utf8)
    }
}

extension StandIn {
    /// A strict stand-in for APNs on a loopback port, with its own thread.
    ///
    /// It checks every request as APNs would, and more strictly where Apple's documentation forbids
    /// something that APNs is known to accept. `RequestChecker` documents its answers,
    /// `SimulatorFaults` the faults that you can configure, and `TokenRules` the device tokens with
    /// fixed answers.
    public static let apns = StandIn(
        service: "apns", displayName: "APNs",
        rules: """
            Accepts provider tokens signed with the keys of volley.yaml, or makes a key if there is none. Device tokens that begin with \
            00000410 get the answer 410 Unregistered, 00000400 gets 400 BadDeviceToken; 00000429 and 00000503 are refused once and then \
            accepted. It also keeps broadcast channels, until it ends: `volley channels create` makes one.
            """, credential: .signingKey(keyID: "SIMULATOR1", teamID: "VOLLEYTEAM"), keyFile: "AuthKey_SIMULATOR1.p8",
        ignoresCase: true,
        gone: SimulatedAnswer(status: 410, reason: "Unregistered"),
        unknown: SimulatedAnswer(status: 400, reason: "BadDeviceToken"),
        guardsConnections: true, makeRules: { configuration, _ in APNsRules(configuration) })
}

/// The rules that depend on push types, kept separate from the sender's rules.
/// Source: Apple, "Sending notification requests to APNs".
extension PushType {
    /// The suffix that a topic must have for this type; empty if the topic is the bundle id itself.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The largest payload in bytes.
    var maximumPayloadBytes: Int { self == .voip ? 5120 : 4096 }
}
