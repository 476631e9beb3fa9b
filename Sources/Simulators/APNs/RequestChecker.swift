import Base

/// Decides how APNs would answer a push. It does no I/O: its decision depends only on the request,
/// the connection's trust and the time that the caller passes.
///
/// The order of the checks is that of pushy's validating mock server, with this simulator's further
/// checks where they belong: apns-id, method, duplicate headers, topic, collapse id, priority, push
/// type, expiration, path and token, dead tokens, the token's topic, authorization, payload, tokens
/// with a temporary refusal. Where Apple's documentation leaves the reason open:
/// - a topic that cannot be a bundle id, or does not have the suffix of the push type, is BadTopic;
///   a bundle id that is not in the configuration is TopicDisallowed;
/// - a push type may be absent, as Apple requires it only for watchOS: the topic then says what it
///   is. A push to the topic of a type that came with the header or later is InvalidPushType
///   without it;
/// - `background` requires an explicit priority 5, as 10 is the default; otherwise it is
///   BadPriority;
/// - a payload that is not a JSON object in UTF-8, or lacks the object `aps` where its push type
///   needs one, is PayloadEmpty;
/// - a background push with alert, badge or sound is accepted, as by APNs: the device then ignores
///   a part;
/// - digits of a token may be upper-case; fewer than 8 or more than 512 are BadDeviceToken.
struct RequestChecker {
    private let topics: [[UInt8]]
    private let tokenTopics: [TokenHash: [UInt8]]
    private var rules: TokenRules
    private var providerTokens: ProviderTokenChecker
    var channels: ChannelRules
    /// The topic and push type of the last request that passed. The pushes of a run share them, so
    /// the check is usually skipped.
    private var approvedTopic: [UInt8] = []
    private var approvedPushType: PushType?
    private var approvedPushTypeName: [UInt8] = []

    init(_ configuration: SimulatorConfiguration) {
        topics = configuration.topics.map { Array($0.utf8) }
        var owners: [TokenHash: [UInt8]] = [:]
        for (token, topic) in configuration.tokenTopics {
            owners[TokenHash(hexDigits: token)] = Array(topic.utf8)
        }
        tokenTopics = owners
        rules = TokenRules(configuration.faults.answers)
        providerTokens = ProviderTokenChecker(keys: configuration.keys, scope: configuration.tokenUpdateScope)
        channels = ChannelRules(configuration)
    }

    /// The number of distinct provider tokens that were accepted.
    var acceptedProviderTokens: Int { providerTokens.acceptedTokens }

    /// Decides the answer to a request.
    /// - Parameter hasPayload: whether the payload is complete; if not, it is not checked.
    mutating func check(_ request: PushRequest, hasPayload: Bool = true, trust: inout ConnectionTrust, now: Timestamp)
        -> Answer
    {
        let token = request.tokenDigits
        if token == nil, let subject = ChannelRules.subject(of: request) {
            return check(request, about: subject, hasPayload: hasPayload, trust: &trust, now: now)
        }
        if let refusal = headerRefusal(of: request) { return refusal }
        guard let token else { return pathRefusal(of: request) }
        if let refusal = tokenRefusal(of: token, in: request, now: now) { return refusal }
        if let refusal = authorizationRefusal(of: request, trust: &trust, now: now) { return refusal }
        if hasPayload, let refusal = payloadRefusal(of: request) { return refusal }
        return rules.temporaryRefusal(of: token, now: now) ?? .accepted
    }

    // MARK: Headers

    private mutating func headerRefusal(of request: PushRequest) -> Answer? {
        if let id = request[.id], !Self.isLowerCaseUUID(id) { return .badRequest("BadMessageId") }
        guard let method = request[.method], areEqual(method, Self.post.bytes) else {
            return Answer(status: 405, reason: "MethodNotAllowed")
        }
        if request.hasDuplicateHeader { return .badRequest("DuplicateHeaders") }
        let pushType = pushType(of: request)
        if let refusal = topicRefusal(of: request, pushType: pushType) { return refusal }
        if let collapseID = request[.collapseID], collapseID.count > Self.longestCollapseID {
            return .badRequest("BadCollapseId")
        }
        if let refusal = priorityRefusal(of: request, pushType: pushType) { return refusal }
        guard pushType != nil else { return .badRequest("InvalidPushType") }
        if let expiration = request[.expiration], !Self.isEpochSeconds(expiration) {
            return .badRequest("BadExpirationDate")
        }
        return nil
    }

    private static let post: StaticString = "POST"
    /// The most bytes of an apns-collapse-id.
    private static let longestCollapseID = 64
    private static let pushTypes = PushType.allCases.map {
        (name: Array($0.rawValue.utf8), suffix: Array($0.topicSuffix.utf8), type: $0)
    }
    private static let suffixes = pushTypes.map(\.suffix).filter { !$0.isEmpty }

    /// The push type of a request; nil if it is unknown.
    private func pushType(of request: PushRequest) -> PushType? {
        guard let name = request[.pushType] else { return Self.pushType(ofTopic: request[.topic]) }
        if let approvedPushType, areEqual(name, right: approvedPushTypeName) { return approvedPushType }
        return Self.pushTypes.first { areEqual(name, right: $0.name) }?.type
    }

    /// What a push without a push type is.
    private static func pushType(ofTopic topic: UnsafeBufferPointer<UInt8>?) -> PushType? {
        guard let topic else { return .alert }
        if topic.starts(with: "com.apple.mgmt.".utf8) { return .mdm }
        let entry = pushTypes.first { !$0.suffix.isEmpty && topic.suffix($0.suffix.count).elementsEqual($0.suffix) }
        return entry.map { typesWithoutHeader.contains($0.type) ? $0.type : nil } ?? .alert
    }

    /// The types with a topic of their own that are older than the header, which came with iOS 13.
    private static let typesWithoutHeader: Set<PushType> = [.voip, .complication, .fileprovider]

    private mutating func topicRefusal(of request: PushRequest, pushType: PushType?) -> Answer? {
        guard let value = request[.topic], !value.isEmpty else { return .badRequest("MissingTopic") }
        // A topic that passed once passes again. Nearly every push takes this shortcut.
        if let pushType, pushType == approvedPushType, areEqual(value, right: approvedTopic) { return nil }
        let topic = Array(value)
        guard topic.allSatisfy(Self.isBundleIDByte) else { return .badRequest("BadTopic") }
        // An invalid push type is refused later, with its own reason.
        guard let entry = Self.pushTypes.first(where: { $0.type == pushType }) else { return nil }
        guard let bundleID = Self.bundleID(of: topic, suffix: entry.suffix) else { return .badRequest("BadTopic") }
        guard topics.isEmpty || topics.contains(bundleID) else { return .badRequest("TopicDisallowed") }
        approvedTopic = topic
        approvedPushType = pushType
        approvedPushTypeName = entry.name
        return nil
    }

    /// Whether a bundle id exists.
    func knows(_ bundle: String) -> Bool {
        bundle.utf8.allSatisfy(Self.isBundleIDByte) && (topics.isEmpty || topics.contains(Array(bundle.utf8)))
    }

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// A topic without the suffix of its push type; nil if it lacks that suffix, or has another
    /// type's.
    private static func bundleID(of topic: [UInt8], suffix: [UInt8]) -> [UInt8]? {
        guard topic.count > suffix.count, topic.suffix(suffix.count).elementsEqual(suffix) else { return nil }
        let bundleID = Array(topic.dropLast(suffix.count))
        if suffix.isEmpty, suffixes.contains(where: { bundleID.suffix($0.count).elementsEqual($0) }) { return nil }
        return bundleID
    }

    private func priorityRefusal(of request: PushRequest, pushType: PushType?) -> Answer? {
        var number = PushPriority.high.rawValue
        if let text = request[.priority] {
            guard let written = Self.priority(text) else { return .badRequest("BadPriority") }
            number = written.rawValue
        }
        return pushType == .background && number != PushPriority.normal.rawValue ? .badRequest("BadPriority") : nil
    }

    private static func priority(_ text: UnsafeBufferPointer<UInt8>) -> PushPriority? {
        if text.count == 2, text[0] == UInt8(ascii: "1"), text[1] == UInt8(ascii: "0") { return .high }
        guard text.count == 1 else { return nil }
        switch text[0] {
        case UInt8(ascii: "5"): return .normal
        case UInt8(ascii: "1"): return .low
        default: return nil
        }
    }

    /// Whether a text is 8, 4, 4, 4 and 12 lower-case hex digits, separated by hyphens.
    static func isLowerCaseUUID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for offset in 0..<36 {
            let byte = text[offset]
            switch offset {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return false }
            default:
                let isDigit =
                    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                    || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f")
                guard isDigit else { return false }
            }
        }
        return true
    }

    /// Whether a text is digits only, and fits in 64 bits.
    private static func isEpochSeconds(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        (1...18).contains(text.count) && text.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    // MARK: Path and token

    /// The refusal of a path that does not lead to a device.
    private func pathRefusal(of request: PushRequest) -> Answer {
        let devicePath = PushRequest.devicePath.bytes
        let isDevicePath =
            request[.path].map {
                areEqual($0, devicePath) || areEqual($0, UnsafeBufferPointer(rebasing: devicePath.dropLast()))
            } ?? false
        return isDevicePath ? .badRequest("MissingDeviceToken") : Answer(status: 404, reason: "BadPath")
    }

    /// The number of hex digits that a token may have.
    private static let tokenDigits = 8...512

    private mutating func tokenRefusal(of token: UnsafeBufferPointer<UInt8>, in request: PushRequest, now: Timestamp)
        -> Answer?
    {
        guard Self.tokenDigits.contains(token.count), token.count % 2 == 0 else { return .badRequest("BadDeviceToken") }
        guard areHexDigits(token) else { return .badRequest("BadDeviceToken") }
        if let refusal = rules.permanentRefusal(of: token, now: now) { return refusal }
        guard !tokenTopics.isEmpty, let owner = tokenTopics[TokenHash(hexDigits: token)] else { return nil }
        // The suffix was checked with the topic.
        let topic = request[.topic].map { Array($0) } ?? []
        let isOwn =
            topic.starts(with: owner)
            && (topic.count == owner.count || topic.dropFirst(owner.count).first == UInt8(ascii: "."))
        return isOwn ? nil : .badRequest("DeviceTokenNotForTopic")
    }

    // MARK: Sender and payload

    /// The refusal of the sender's credentials. With a client certificate, APNs ignores provider
    /// tokens.
    mutating func authorizationRefusal(of request: PushRequest, trust: inout ConnectionTrust, now: Timestamp) -> Answer?
    {
        switch trust.certificate {
        case .inForce: nil
        case .expired: .forbidden("BadCertificate")
        case .none: providerTokens.refusal(of: request, trust: &trust, now: now)
        }
    }

    private func payloadRefusal(of request: PushRequest) -> Answer? {
        guard request.payloadBytes > 0 else { return .badRequest("PayloadEmpty") }
        let pushType = approvedPushType ?? .alert
        guard request.payloadBytes <= pushType.maximumPayloadBytes else {
            return Answer(status: 413, reason: "PayloadTooLarge")
        }
        switch JSONSyntax.verdict(on: request.payload) {
        case .invalid: return .badRequest("PayloadEmpty")
        case .object(let hasAps): return hasAps || !Self.needsAps(pushType) ? nil : .badRequest("PayloadEmpty")
        }
    }

    /// Whether a push type requires `aps`. The payloads of the other types are read by the device's
    /// own services and need no `aps`: MDM sends a push magic, for example, and file providers a
    /// container.
    private static func needsAps(_ pushType: PushType) -> Bool {
        switch pushType {
        case .alert, .background, .liveactivity, .pushtotalk, .widgets, .controls: true
        case .voip, .complication, .fileprovider, .location, .mdm: false
        }
    }
}

/// Device tokens with fixed answers: those of `SimulatorFaults.answers`, and always those that
/// begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00000410` | 410 Unregistered, invalid for three days |
/// | `00000400` | 400 BadDeviceToken |
/// | `00000429` | 429 TooManyRequests the first time, then accepted |
/// | `00000503` | 503 ServiceUnavailable the first time, then accepted |
///
/// A token of zeros only, which `volley doctor` uses, gets BadDeviceToken after everything else was
/// checked.
///
/// These tokens show every kind of outcome in samples and tests without any configuration.
struct TokenRules {
    private struct Rule {
        var answer: SimulatedAnswer
        var remaining: Int?
    }

    private var fixed: [TokenHash: Rule] = [:]
    private var seenTemporary: Set<TokenHash> = []
    private static let prefixDigits = 8
    private static let millisecondsInvalid: Int64 = 3 * 86_400_000

    init(_ answers: [String: SimulatedAnswer]) {
        for (token, answer) in answers {
            fixed[TokenHash(hexDigits: token)] = Rule(answer: answer, remaining: answer.times)
        }
    }

    /// The refusal of a token that is known to be dead; nil for all others. APNs checks this before
    /// it checks the sender.
    mutating func permanentRefusal(of token: UnsafeBufferPointer<UInt8>, now: Timestamp) -> Answer? {
        switch Self.prefix(of: token) {
        case 410:
            return Answer(
                status: 410, reason: "Unregistered",
                invalidSinceMilliseconds: now.epochMilliseconds - Self.millisecondsInvalid)
        case 400: return .badRequest("BadDeviceToken")
        default: return fixedAnswer(for: token, now: now) { $0 == 400 || $0 == 410 }
        }
    }

    /// The refusal of a token that may pass another time, or that is all zeros; nil for all others.
    /// Only correct pushes are checked here.
    mutating func temporaryRefusal(of token: UnsafeBufferPointer<UInt8>, now: Timestamp) -> Answer? {
        if token.allSatisfy({ $0 == UInt8(ascii: "0") }) { return .badRequest("BadDeviceToken") }
        switch Self.prefix(of: token) {
        case 429 where seenTemporary.insert(TokenHash(hexDigits: token)).inserted:
            return Answer(status: 429, reason: "TooManyRequests")
        case 503 where seenTemporary.insert(TokenHash(hexDigits: token)).inserted:
            return Answer(status: 503, reason: "ServiceUnavailable")
        default: return fixedAnswer(for: token, now: now) { $0 != 400 && $0 != 410 }
        }
    }

    private mutating func fixedAnswer(
        for token: UnsafeBufferPointer<UInt8>, now: Timestamp, ifStatus isMeant: (Int) -> Bool
    ) -> Answer? {
        guard !fixed.isEmpty else { return nil }
        let hash = TokenHash(hexDigits: token)
        guard var rule = fixed[hash], isMeant(rule.answer.status), rule.remaining != 0 else { return nil }
        if let remaining = rule.remaining {
            rule.remaining = remaining - 1
            fixed[hash] = rule
        }
        let since = rule.answer.status == 410 ? now.epochMilliseconds - Self.millisecondsInvalid : nil
        return Answer(status: rule.answer.status, reason: rule.answer.reason, invalidSinceMilliseconds: since)
    }

    /// The number in the three digits after five zeros at a token's beginning; 0 for any other
    /// beginning.
    private static func prefix(of token: UnsafeBufferPointer<UInt8>) -> Int {
        guard token.count >= prefixDigits else { return 0 }
        let zero = UInt8(ascii: "0")
        for place in 0..<5 where token[place] != zero { return 0 }
        var number = 0
        for place in 5..<prefixDigits {
            let digit = token[place]
            guard digit >= zero, digit <= UInt8(ascii: "9") else { return 0 }
            number = number * 10 + Int(digit - zero)
        }
        return number
    }
}
