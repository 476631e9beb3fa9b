import Base
import Cryptography

/// The headers with which each request identifies its app: `App-Key`, a number that is used once,
/// the time, and the SHA-1 of secret, number and time, each as the request has it. Source:
/// RongCloud, "API signature"; its SDKs for the hex digits in lower case.
///
/// The page says that the time is in milliseconds, and the SDKs write seconds: both are accepted.
/// How far a clock may be off, and whether a number may be used again, is not documented: what is
/// stricter is meant.
struct RequestSignatures {
    static let headers: [StaticString] = [account, nonce, timestamp, signature]
    private static let account: StaticString = "app-key", nonce: StaticString = "nonce",
        timestamp: StaticString = "timestamp"
    private static let signature: StaticString = "signature"

    static let mostNonceCharacters = 18
    /// How far a sender's clock may be off.
    static let clockSkewSeconds: Int64 = 300
    /// From this number on, numbers that are too old to be used again are forgotten.
    private static let manyNonces = 4096

    /// What the headers say.
    enum Verdict {
        case app(String)
        case refused(RongCloudReply)
    }

    private let secrets: [TrustedSecret]
    private var nonces: [String: Timestamp] = [:]
    private var usedApps: Set<String> = []
    /// The number of apps with accepted signatures.
    var usedSecrets: Int { usedApps.count }

    init(_ secrets: [TrustedSecret]) { self.secrets = secrets }

    /// Checks the headers of a request.
    func verdict(of request: PushRequest, now: Timestamp) -> Verdict {
        func header(_ name: StaticString) -> String? {
            request.own(name).flatMap { String(validating: $0, as: UTF8.self) }
        }
        func refused(_ text: String) -> Verdict { .refused(.refusal(1004, text)) }
        guard let app = header(Self.account), let nonce = header(Self.nonce), let time = header(Self.timestamp),
            let signature = header(Self.signature)
        else { return refused("App-Key, Nonce, Timestamp and Signature are required.") }
        guard let trusted = secrets.first(where: { $0.app == app }) else {
            return .refused(.refusal(1001, "The App Key is unknown."))
        }
        guard (1...Self.mostNonceCharacters).contains(nonce.utf8.count) else {
            return refused("Nonce has at most 18 characters.")
        }
        guard let seconds = Self.seconds(time) else {
            return refused("Timestamp must be seconds or milliseconds since 1970.")
        }
        guard SHA1.hex(of: trusted.secret + nonce + time) == signature else {
            return refused("The signature is wrong.")
        }
        guard abs(seconds - now.epochSeconds) <= Self.clockSkewSeconds else {
            return refused("Timestamp is too far from now.")
        }
        guard nonces[Self.key(app, nonce)] == nil else { return refused("Nonce was used before.") }
        return .app(app)
    }

    /// Remembers that a request with a right signature was processed.
    mutating func note(_ request: PushRequest, now: Timestamp) {
        func header(_ name: StaticString) -> String {
            request.own(name).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        if nonces.count >= Self.manyNonces {
            let oldest = now.adding(seconds: -2 * Double(Self.clockSkewSeconds))
            nonces = nonces.filter { $0.value >= oldest }
        }
        usedApps.insert(header(Self.account))
        nonces[Self.key(header(Self.account), header(Self.nonce))] = now
    }

    private static func key(_ app: String, _ nonce: String) -> String { "\(app) \(nonce)" }

    /// The seconds since 1970 that ten digits of seconds, or thirteen of milliseconds, say.
    private static func seconds(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy(isDigit), let number = Int64(text) else { return nil }
        switch text.utf8.count {
        case 10: return number
        case 13: return number / 1000
        default: return nil
        }
    }
}
