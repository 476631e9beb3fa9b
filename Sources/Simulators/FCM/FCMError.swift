import Base

/// An answer of FCM, or of the server that gives out access tokens, with its body.
struct FCMReply: Equatable {
    var status: Int
    /// What the ledger has as the reason; empty for 200.
    var reason: String
    var text: [UInt8]
}

/// A refusal of FCM: `{"error":{"code":…,"message":…,"status":…,"details":[…]}}`.
/// Source: firebase.google.com, REST resource v1/ErrorCode and "FCM error codes".
struct FCMError: Equatable {
    /// The HTTP status.
    var code: Int
    /// The word of google.rpc.Code: `NOT_FOUND`.
    var status: String
    /// The word of FCM: `UNREGISTERED`; nil for refusals that come from before FCM, of access
    /// tokens and projects.
    var errorCode: String?
    var message: String
    /// The field that is wrong: `message.token`.
    var field: String?
    /// What is wrong with an access token: `ACCESS_TOKEN_EXPIRED`, with which some SDKs decide to
    /// fetch a new one. Source: googleapis, `google/api/error_reason.proto`.
    var tokenReason: String?

    /// The word that the ledger has.
    var reason: String { errorCode ?? status }

    /// An answer with the details that are switched on.
    func reply(_ details: RefusalDetails) -> FCMReply {
        var text: [UInt8] = []
        var pairs: [(String, JSONValue)] = [
            ("code", .integer(Int64(code))), ("message", .string(message)), ("status", .string(status)),
        ]
        let shown = self.details(details)
        if !shown.isEmpty { pairs.append(("details", .array(shown))) }
        JSONValue.object(pairs: [("error", .object(pairs: pairs))]).append(to: &text)
        return FCMReply(status: code, reason: reason, text: text)
    }

    private func details(_ wanted: RefusalDetails) -> [JSONValue] {
        let own = errorCode.map {
            JSONValue.object(pairs: [
                ("@type", .string("type.googleapis.com/google.firebase.fcm.v1.FcmError")), ("errorCode", .string($0)),
            ])
        }
        let place = field.map {
            JSONValue.object(pairs: [
                ("@type", .string("type.googleapis.com/google.rpc.BadRequest")),
                (
                    "fieldViolations",
                    .array([.object(pairs: [("field", .string($0)), ("description", .string(message))])])
                ),
            ])
        }
        let token = tokenReason.map {
            JSONValue.object(pairs: [
                ("@type", .string("type.googleapis.com/google.rpc.ErrorInfo")), ("reason", .string($0)),
                ("domain", .string("googleapis.com")),
            ])
        }
        switch wanted {
        case .both: return [own, place, token].compactMap(\.self)
        case .one: return [own ?? place ?? token].compactMap(\.self)
        case .none: return []
        }
    }

    // MARK: The refusals

    /// A body that is not what the documentation describes.
    static func malformed(_ flaw: JSONFlaw) -> FCMError {
        let place = flaw.path.isEmpty ? "" : " at '\(flaw.field)'"
        return FCMError(
            code: 400, status: "INVALID_ARGUMENT", message: "Invalid JSON payload received.\(place) \(flaw.text)",
            field: flaw.path.isEmpty ? nil : flaw.field)
    }

    /// A message that FCM cannot send.
    static func invalid(_ message: String, field: String) -> FCMError {
        FCMError(code: 400, status: "INVALID_ARGUMENT", errorCode: "INVALID_ARGUMENT", message: message, field: field)
    }

    static func unauthenticated(_ message: String, _ reason: String) -> FCMError {
        FCMError(code: 401, status: "UNAUTHENTICATED", message: message, tokenReason: reason)
    }

    /// A project that the account may not use, and one that does not exist.
    static let permissionDenied = FCMError(
        code: 403, status: "PERMISSION_DENIED",
        message: "Permission 'cloudmessaging.messages.create' denied on resource (or it may not exist).")
    static let unknownProject = FCMError(code: 404, status: "NOT_FOUND", message: "Requested entity was not found.")

    /// What FCM means by a status and a reason; nil for others. A reason that is no word of FCM is
    /// the word of google.rpc.Code.
    static func named(_ reason: String, status: Int, field: String?) -> FCMError {
        guard let known = known[reason] else {
            return FCMError(code: status, status: reason, message: "The request was refused.")
        }
        // 400 alone has a field: the other refusals are about what the device or the project is,
        // not about what the request says.
        return FCMError(
            code: status, status: known.status, errorCode: reason, message: known.message,
            field: status == 400 ? field : nil)
    }

    /// The refusal for a fault that is known by its status.
    static func fault(status: Int) -> FCMError {
        let reason =
            switch status {
            case 429: "QUOTA_EXCEEDED"
            case 503: "UNAVAILABLE"
            default: "INTERNAL"
            }
        return named(reason, status: status, field: nil)
    }

    private static let known: [String: (status: String, message: String)] = [
        "INVALID_ARGUMENT": ("INVALID_ARGUMENT", "The registration token is not a valid FCM registration token"),
        "UNREGISTERED": ("NOT_FOUND", "Requested entity was not found."),
        "SENDER_ID_MISMATCH": ("PERMISSION_DENIED", "SenderId mismatch"),
        "THIRD_PARTY_AUTH_ERROR": ("UNAUTHENTICATED", "Auth error from APNS or Web Push Service"),
        "APNS_AUTH_ERROR": ("UNAUTHENTICATED", "Auth error from APNS or Web Push Service"),
        "QUOTA_EXCEEDED": ("RESOURCE_EXHAUSTED", "Quota exceeded for the messages of this project."),
        "UNAVAILABLE": ("UNAVAILABLE", "The service is currently unavailable."),
        "INTERNAL": ("INTERNAL", "Internal error encountered."),
    ]
}
