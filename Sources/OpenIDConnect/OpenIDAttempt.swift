public import Base
import Cryptography
import Synchronization

/// A sign-in that a browser began. The values that the provider sees are derived from a secret that
/// only this browser has, and from a key that never leaves the process.
public struct OpenIDAttempt: Hashable, Sendable {
    /// What it is for.
    public enum Purpose: Hashable, Sendable {
        case signIn
        /// A signed-in person proves their identity again.
        /// - Parameter session: the hash of that session's secret.
        case proof(session: String)
    }

    /// What it is for.
    public let purpose: Purpose
    /// The address that the browser goes to afterwards, unchanged.
    public let to: String
    /// When it began.
    public let startedAt: Timestamp
    /// What comes back with the answer (RFC 6749, section 10.12).
    public let state: String
    /// What comes back in the ID token (OpenID Connect Core 1.0, section 15.5.2).
    let nonce: String
    /// RFC 7636.
    let verifier: String

    /// RFC 7636, section 4.2: S256.
    var challenge: String { Base64URL.text(SHA256.digest(of: Array(verifier.utf8))) }
}

/// Begins sign-ins, and accepts each one's return once. A begun sign-in is not stored, so that a
/// flood cannot fill the memory: the browser keeps it, sealed, in a cookie. Returned ones are
/// remembered until they have lapsed.
public final class OpenIDAttempts: Sendable {
    /// A sign-in must come back within this time.
    public static let seconds: Int64 = 10 * 60
    /// The most bytes of the address that the browser goes to afterwards; a longer one is dropped.
    /// Browsers keep cookies of 4096 bytes.
    private static let mostWayBytes = 2000
    /// At most this number of returned sign-ins is remembered, the latest ones: a provider takes
    /// each code once anyway.
    private static let mostUsed = 20_000

    private struct Used {
        var seals: Set<String> = []
        var order: [(seal: String, lapsesAt: Timestamp)] = []
    }

    private let key = RandomBytes.make(32)
    private let used = Mutex(Used())

    /// A separate key: sign-ins that were begun before a restart cannot return.
    public init() {}

    /// Begins one.
    /// - Returns: the attempt, and the cookie that the browser keeps.
    public func begin(_ purpose: OpenIDAttempt.Purpose, to: String, at now: Timestamp) -> (
        attempt: OpenIDAttempt, cookie: String
    ) {
        let session = if case .proof(let session) = purpose { session } else { "" }
        let way = to.utf8.count <= Self.mostWayBytes ? to : ""
        let fields = [
            SHA256.hex(RandomBytes.make(32)), String(now.epochMilliseconds), session, Base64URL.text(Array(way.utf8)),
        ].joined(separator: ".")
        return (attempt(fields, purpose, to: way, startedAt: now), "\(fields).\(code("seal", fields))")
    }

    /// Takes one back, once.
    /// - Parameters:
    ///   - cookie: what the browser kept; nil for nothing.
    ///   - state: what came with the answer.
    /// - Throws: `.notBegun`, `.lapsed`, `.used`. An answer with another state leaves the sign-in
    ///   as it was, so that another site cannot end it.
    public func take(_ cookie: String?, state: String, at now: Timestamp) throws(OpenIDProblem) -> OpenIDAttempt {
        guard let cookie, cookie.utf8.count <= 4096 else { throw .notBegun }
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let seal = parts.last, case let fields = parts.dropLast().joined(separator: "."),
            ConstantTime.areEqual(Array(seal.utf8), Array(code("seal", fields).utf8)),
            let milliseconds = Int64(parts[1]),
            let way = Base64URL.bytes(parts[3])
        else { throw .notBegun }
        let startedAt = Timestamp(epochMilliseconds: milliseconds)
        let purpose = parts[2].isEmpty ? OpenIDAttempt.Purpose.signIn : .proof(session: parts[2])
        let attempt = attempt(fields, purpose, to: String(decoding: way, as: UTF8.self), startedAt: startedAt)
        guard ConstantTime.areEqual(Array(state.utf8), Array(attempt.state.utf8)) else { throw .notBegun }
        let lapsesAt = startedAt.adding(seconds: Double(Self.seconds))
        guard now < lapsesAt, startedAt < now.adding(seconds: 60) else { throw .lapsed }
        guard note(seal, lapsesAt: lapsesAt, at: now) else { throw .used }
        return attempt
    }

    /// Whether it comes back for the first time.
    private func note(_ seal: String, lapsesAt: Timestamp, at now: Timestamp) -> Bool {
        used.withLock { used in
            guard !used.seals.contains(seal) else { return false }
            let old = used.order.prefix { $0.lapsesAt <= now }.count
            let gone = max(old, used.order.count + 1 - Self.mostUsed)
            for entry in used.order.prefix(gone) { used.seals.remove(entry.seal) }
            used.order.removeFirst(max(0, gone))
            used.seals.insert(seal)
            used.order.append((seal, lapsesAt))
            return true
        }
    }

    private func attempt(_ fields: String, _ purpose: OpenIDAttempt.Purpose, to: String, startedAt: Timestamp)
        -> OpenIDAttempt
    {
        OpenIDAttempt(
            purpose: purpose, to: to, startedAt: startedAt, state: code("state", fields), nonce: code("nonce", fields),
            verifier: code("verifier", fields))
    }

    private func code(_ use: String, _ fields: String) -> String {
        SHA256.hex(HMACSHA256.code(of: Array("\(use) \(fields)".utf8), key: key))
    }
}
