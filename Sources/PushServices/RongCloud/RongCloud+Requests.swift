public import Base

/// Requests to RongCloud. Source: RongCloud, "send a push to users".
extension RongCloud {
    /// A POST that names the users. The signature comes from the credential.
    public func request(_ options: PushOptions) -> RequestTemplate {
        let body = RongCloudRequestBody(options)
        return RequestTemplate(
            pathPrefix: "/push/user.json", headers: [.init("content-type", value: "application/json")],
            idHeader: Self.idHeader
        ) { call, _, bytes in body.append(call, to: &bytes) }
    }

    /// A notification with the campaign's own data in it.
    public func payload(of content: MessageContent) -> PayloadDraft { RongCloudPayload.draft(of: content) }

    /// RongCloud has no request that only checks. It accepts a push to a user that does not exist,
    /// and no app has such a user.
    public var probe: ProbePush {
        ProbePush(
            target: "volley-doctor=nobody", payload: RongCloudRequestBody.opening + #"},"pushContent":"Volley"}}"#)
    }
}

/// Puts users, and what all pushes of a run have in common, around a payload.
///
/// Payloads have a fixed beginning (`RongCloudPayload`), so that it needs no search:
/// `{"userIds":[…],"notification":{"ios":{` collapse id `…},…}}`.
struct RongCloudRequestBody: Sendable {
    static let opening = "{\"notification\":{\"ios\":{"

    /// A member of `ios` as JSON, with nothing around it; empty for none.
    private let collapse: [UInt8]

    init(_ options: PushOptions) {
        var bytes: [UInt8] = []
        if let collapseID = options.collapseID {
            JSONValue.object(pairs: [("apns-collapse-id", .string(collapseID))]).append(to: &bytes)
        }
        collapse = Array(bytes.dropFirst().dropLast())
    }

    /// - Parameter pushes: at least one, all with the same payload.
    func append(_ pushes: RequestCall, to bytes: inout [UInt8]) {
        guard let payload = pushes.first?.payload else { return }
        precondition(payload.starts(with: Self.opening.utf8), "payloads begin as RongCloudPayload has them written")
        bytes += "{\"userIds\":[".utf8
        for (index, push) in pushes.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes += push.target
            bytes.append(UInt8(ascii: "\""))
        }
        bytes += "],".utf8
        bytes += Self.opening.utf8.dropFirst()
        let rest = payload.dropFirst(Self.opening.utf8.count)
        bytes += collapse
        if !collapse.isEmpty, rest.first != UInt8(ascii: "}") { bytes.append(UInt8(ascii: ",")) }
        bytes += rest
    }
}
