public import Base

/// Requests to FCM. Source: Google, "Method: projects.messages.send" and "REST Resource:
/// projects.messages".
extension FCM {
    /// A POST to the project, which carries one message.
    public func request(_ options: PushOptions) -> RequestTemplate {
        let body = FCMRequestBody(options)
        return RequestTemplate(
            pathPrefix: "/v1/projects/\(options.topic)/messages:send",
            headers: [.init("content-type", value: "application/json")],
            idHeader: Self.idHeader
        ) { pushes, now, bytes in
            for push in pushes { body.append(push, now: now, to: &bytes) }
        }
    }

    /// A message with the campaign's own data in it.
    public func payload(of content: MessageContent) -> PayloadDraft { FCMPayload.draft(of: content) }

    /// FCM only checks it, because of `validate_only`; and no device has such a token, because its
    /// signature is all zeros.
    public var probe: ProbePush {
        ProbePush(
            target: String(repeating: "0", count: Self.installationIDLength) + ":APA91b"
                + String(repeating: "0", count: 134),
            payload: FCMRequestBody.dryRun + FCMRequestBody.openingOfProbe + FCMRequestBody.headers + "}}"
                + FCMRequestBody.androidAlone
                + FCMRequestBody.end)
    }
}

/// Puts the target of a push, and what all pushes of a run have in common, into a payload.
///
/// Payloads have a fixed beginning and a fixed end (`FCMPayload`), so that neither needs to be
/// searched: `{"message":{` target `"apns":{"headers":{` expiry, priority … `},…},…,"android":{…`
/// time to live, priority … `}}}`.
struct FCMRequestBody: Sendable {
    static let opening = "{\"message\":{", headers = "\"apns\":{\"headers\":{", androidAlone = ",\"android\":{",
        end = "}}}"
    /// What the probe's payload has in front of its `message`.
    static let dryRun = "{\"validate_only\":true,", openingOfProbe = "\"message\":{"
    /// The longest time that FCM keeps a message: four weeks. Source: Google, "AndroidConfig", ttl.
    static let longestSeconds: Int64 = 2_419_200

    /// Members without their braces, as JSON.
    private let apnsHeaders: [UInt8], android: [UInt8]
    private let expiration: Int64?
    private let isActivity: Bool

    init(_ options: PushOptions) {
        expiration = options.expiration
        isActivity = options.pushType == .liveactivity
        // Apple refuses background pushes with another priority. Android may wake at once for a
        // message without a notification.
        let priority = options.pushType == .background ? .normal : options.priority
        var headers: [(String, JSONValue)] = [("apns-priority", .string(String(priority.rawValue)))]
        // FCM writes that of activities itself, by their token.
        if !isActivity { headers.insert(("apns-push-type", .string(options.pushType.rawValue)), at: 0) }
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
        if isActivity { appendActivity(members, now: now, to: &bytes) } else { bytes += members }
        if members.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes += android
        if let expiration {
            bytes += ",\"ttl\":\"".utf8
            bytes += String(min(max(0, expiration - now), Self.longestSeconds)).utf8
            bytes += "s\"".utf8
        }
        bytes += Self.end.utf8
    }

    /// A text of JSON has no quotes without a backslash before them, so the first such bytes are
    /// those of the payload for iPhones.
    private func appendActivity(_ members: ArraySlice<UInt8>, now: Int64, to bytes: inout [UInt8]) {
        let key = ",\"payload\":", opening = Array((key + ActivityStamp.unstamped).utf8)
        guard
            let start = members.indices.first(where: { members[$0...].starts(with: opening) }).map({
                $0 + key.utf8.count
            })
        else {
            bytes += members
            return
        }
        bytes += members[..<start]
        ActivityStamp.append(members[start...], now: now, to: &bytes)
    }

    /// Moves the beginning of a payload.
    private func take(_ text: String, from rest: inout ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        precondition(rest.starts(with: text.utf8), "payloads begin as FCMPayload has them written")
        bytes += text.utf8
        rest = rest.dropFirst(text.utf8.count)
    }
}

/// What a key of a message may hold, for messages that are written by hand. Source: Google, "REST
/// Resource: projects.messages"; for the forms of labels, colours and durations,
/// firebase-admin-python, `_messaging_encoder.py`.
indirect enum FCMMessageForm: Sendable {
    case text, flag, wholeNumber
    /// A number from 0 to 1.
    case share
    /// `#rrggbb`
    case color
    /// Seconds with up to nine decimals: `3.5s`.
    case duration
    /// A label for statistics.
    case label
    /// An address that begins with `https://`.
    case secureAddress
    /// One of these words.
    case choice([String])
    case list(FCMMessageForm)
    /// The app's own keys, each with a text.
    case data
    /// Headers of the web push protocol, each with a text.
    case headers
    /// A group of keys that is not FCM's.
    case foreign
    case group([(key: String, form: FCMMessageForm)])

    /// The members of a message that a campaign may write.
    static let message: [(key: String, form: FCMMessageForm)] = [
        ("notification", notification), ("data", .data), ("android", android), ("apns", apns), ("webpush", webpush),
        ("fcm_options", .group([analyticsLabel])),
    ]

    private static let analyticsLabel: (key: String, form: FCMMessageForm) = ("analytics_label", .label)

    private static let notification = FCMMessageForm.group([("title", .text), ("body", .text), ("image", .text)])

    private static let android = FCMMessageForm.group([
        ("notification", androidNotification), ("data", .data), ("restricted_package_name", .text),
        ("fcm_options", .group([analyticsLabel])),
        ("direct_boot_ok", .flag), ("bandwidth_constrained_ok", .flag), ("restricted_satellite_ok", .flag),
    ])

    private static let androidNotification = FCMMessageForm.group([
        ("title", .text), ("body", .text), ("icon", .text), ("color", .color), ("sound", .text), ("tag", .text),
        ("click_action", .text),
        ("body_loc_key", .text), ("body_loc_args", .list(.text)), ("title_loc_key", .text),
        ("title_loc_args", .list(.text)),
        ("channel_id", .text), ("ticker", .text), ("sticky", .flag), ("event_time", .text), ("local_only", .flag),
        (
            "notification_priority",
            .choice(["PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"])
        ),
        ("default_sound", .flag), ("default_vibrate_timings", .flag), ("default_light_settings", .flag),
        ("vibrate_timings", .list(.duration)), ("visibility", .choice(["PRIVATE", "PUBLIC", "SECRET"])),
        ("notification_count", .wholeNumber), ("light_settings", lights), ("image", .text),
        ("bypass_proxy_notification", .flag),
        ("proxy", .choice(["ALLOW", "DENY", "IF_PRIORITY_LOWERED"])),
    ])

    private static let lights = FCMMessageForm.group([
        ("color", .group([("red", .share), ("green", .share), ("blue", .share), ("alpha", .share)])),
        ("light_on_duration", .duration), ("light_off_duration", .duration),
    ])

    /// `headers` and the keys of `aps` have rules of their own.
    private static let apns = FCMMessageForm.group([
        ("headers", .foreign), ("payload", .foreign), ("fcm_options", .group([analyticsLabel, ("image", .text)])),
        ("live_activity_token", .text),
    ])

    /// The notification is the browser's, with keys that browsers add from time to time.
    private static let webpush = FCMMessageForm.group([
        ("headers", .headers), ("data", .data), ("notification", .foreign),
        ("fcm_options", .group([("link", .secureAddress), analyticsLabel])),
    ])
}
