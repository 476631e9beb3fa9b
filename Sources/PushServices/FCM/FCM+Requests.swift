public import Base

/// Requests to FCM. Source: Google, "Method: projects.messages.send" and "REST Resource: projects.messages".
extension FCM {
    /// A POST to the project, which carries one message.
    public func request(_ options: PushOptions) -> RequestTemplate {
        let body = FCMRequestBody(options)
        return RequestTemplate(
            pathPrefix: "/v1/projects/\(options.topic)/messages:send", headers: [.init("content-type", value: "application/json")],
            idHeader: Self.idHeader
        ) { pushes, now, bytes in
            for push in pushes { body.append(push, now: now, to: &bytes) }
        }
    }

    /// A message with the campaign's own data in it.
    public func payload(of content: MessageContent) -> PayloadDraft { FCMPayload.draft(of: content) }

    /// FCM only checks it, because of `validate_only`; and no device has such a token, because its signature is all zeros.
    public var probe: ProbePush {
        ProbePush(
            target: String(repeating: "0", count: Self.installationIDLength) + ":APA91b" + String(repeating: "0", count: 134),
            payload: FCMRequestBody.dryRun + FCMRequestBody.openingOfProbe + FCMRequestBody.headers + "}}" + FCMRequestBody.androidAlone
                + FCMRequestBody.end)
    }
}

/// Puts the target of a push, and what all pushes of a run have in common, into a payload.
///
/// Payloads have a fixed beginning and a fixed end (`FCMPayload`), so that neither needs to be searched:
/// `{"message":{` target `"apns":{"headers":{` expiry, priority … `},…},…,"android":{…` time to live, priority … `}}}`.
struct FCMRequestBody: Sendable {
    static let opening = "{\"message\":{", headers = "\"apns\":{\"headers\":{", androidAlone = ",\"android\":{", end = "}}}"
    /// What the probe's payload has in front of its `message`.
    static let dryRun = "{\"validate_only\":true,", openingOfProbe = "\"message\":{"
    /// The longest time that FCM keeps a message: four weeks. Source: Google, "AndroidConfig", ttl.
    static let longestSeconds: Int64 = 2_419_200

    /// Members without their braces, as JSON.
    private let apnsHeaders: [UInt8], android: [UInt8]
    private let expiration: Int64?

    init(_ options: PushOptions) {
        expiration = options.expiration
        // Apple refuses background pushes with another priority. Android may wake at once for a message without a notification.
        let priority = options.pushType == .background ? .normal : options.priority
        var headers: [(String, JSONValue)] = [
            ("apns-push-type", .string(options.pushType.rawValue)), ("apns-priority", .string(String(priority.rawValue))),
        ]
        if let expiration { headers.append(("apns-expiration", .string(String(expiration)))) }
        var android: [(String, JSONValue)] = [("priority", .string(options.priority == .high ? "HIGH" : "NORMAL"))]
        if let collapseID = options.collapseID {
            headers.append(("apns-collapse-id", .string(collapseID)))
            android.append(("collapse_key", .string(collapseID)))
        }
        apnsHeaders = Self.members(headers)
        self.android = Self.members(android)
    }

    private static func members(_ pairs: [(String, JSONValue)]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object(pairs: pairs).append(to: &bytes)
        return Array(bytes.dropFirst().dropLast())
    }

    /// - Parameter now: epoch seconds.
    func append(_ push: RequestPush, now: Int64, to bytes: inout [UInt8]) {
        var rest = push.payload
        let isProbe = rest.dropFirst(2).first == Self.dryRun.utf8.dropFirst(2).first
        if isProbe { take(Self.dryRun, from: &rest, to: &bytes) }
        take(isProbe ? Self.openingOfProbe : Self.opening, from: &rest, to: &bytes)
        bytes += push.target.count == FCM.installationIDLength ? "\"fid\":\"".utf8 : "\"token\":\"".utf8
        bytes += push.target
        bytes += "\",".utf8
        take(Self.headers, from: &rest, to: &bytes)
        bytes += apnsHeaders
        if rest.first != UInt8(ascii: "}") { bytes.append(UInt8(ascii: ",")) }
        let members = rest.dropLast(Self.end.utf8.count)
        bytes += members
        if members.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes += android
        if let expiration {
            bytes += ",\"ttl\":\"".utf8
            bytes += String(min(max(0, expiration - now), Self.longestSeconds)).utf8
            bytes += "s\"".utf8
        }
        bytes += Self.end.utf8
    }

    /// Moves the beginning of a payload.
    private func take(_ text: String, from rest: inout ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        precondition(rest.starts(with: text.utf8), "payloads begin as FCMPayload has them written")
        bytes += text.utf8
        rest = rest.dropFirst(text.utf8.count)
    }
}
