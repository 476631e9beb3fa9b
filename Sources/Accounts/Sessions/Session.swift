public import Base
import Cryptography

/// The number of a session; never reused. It is not secret.
public struct SessionID: Hashable, Sendable {
    /// From 1 on.
    public let number: Int64

    /// The session with a number.
    public init(_ number: Int64) { self.number = number }
}

/// A browser in which a person is signed in. Its end is decided here, only from its values.
public struct Session: Hashable, Sendable {
    /// How far the person got.
    public enum Stage: String, Hashable, Sendable {
        /// The password was right, the code of the second factor is missing. Such a session gives
        /// no right.
        case awaitingCode = "awaiting_code"
        case signedIn = "signed_in"
    }

    /// Its number.
    public let id: SessionID
    /// Whose it is.
    public let account: AccountID
    /// How far the person got.
    public var stage: Stage
    /// When the person signed in: the twelve hours count from here.
    public let startedAt: Timestamp
    /// When it was last used, to the minute.
    public var usedAt: Timestamp
    /// When the person last showed password and second factor.
    public var provedAt: Timestamp
    /// Where it began; nil if that is unknown.
    public var address: IPAddress?
    /// The browser's identification, at most 200 bytes.
    public var agent: String

    /// The time after its last use when a session ends. Source: NIST SP 800-63B section 4.2.3.
    public static let mostIdleSeconds: Int64 = 30 * 60
    /// The time after its beginning when a session ends, however much it is used. Source: NIST SP
    /// 800-63B section 4.2.3.
    public static let longestSeconds: Int64 = 12 * 3600
    /// For actions that cannot be undone, password and second factor must have been shown within
    /// this time.
    public static let freshSeconds: Int64 = 5 * 60
    /// How long a session waits for a code of the second factor.
    public static let codeSeconds: Int64 = 5 * 60
    /// A clock that was set back by more, from the last noted use, ends a session: its age is then
    /// unknown.
    public static let clockToleranceSeconds: Int64 = 60
    /// The time of the last use is written at most once in this time, so that a page with many
    /// parts writes once.
    static let writingSeconds: Int64 = 60

    /// Whether the session can still be used.
    public func isAlive(at now: Timestamp) -> Bool {
        guard Self.seconds(from: usedAt, to: now) >= -Self.clockToleranceSeconds,
            Self.seconds(from: startedAt, to: now) >= -Self.clockToleranceSeconds
        else { return false }
        switch stage {
        case .awaitingCode: return Self.seconds(from: startedAt, to: now) < Self.codeSeconds
        case .signedIn:
            return Self.seconds(from: startedAt, to: now) < Self.longestSeconds
                && Self.seconds(from: usedAt, to: now) < Self.mostIdleSeconds
        }
    }

    /// Whether the person showed password and second factor a moment ago.
    public func isFresh(at now: Timestamp) -> Bool {
        let age = Self.seconds(from: provedAt, to: now)
        return isAlive(at: now) && stage == .signedIn && age >= -Self.clockToleranceSeconds && age < Self.freshSeconds
    }

    /// Notes a use.
    /// - Returns: whether the time must be written: the last written one is a minute old.
    mutating func use(at now: Timestamp) -> Bool {
        guard Self.seconds(from: usedAt, to: now) >= Self.writingSeconds else { return false }
        usedAt = now
        return true
    }

    private static func seconds(from start: Timestamp, to end: Timestamp) -> Int64 {
        let (difference, overflows) = end.epochMilliseconds.subtractingReportingOverflow(start.epochMilliseconds)
        // A file may hold any number: an impossible one counts as long ago.
        return overflows ? .max : difference >= 0 ? difference / 1000 : (difference - 999) / 1000
    }
}

/// A session with the account that it belongs to, as it was at one moment: the basis of decisions
/// for a page or an order.
public struct SignedIn: Hashable, Sendable {
    /// The session, alive and signed in.
    public let session: Session
    /// Its account, active.
    public let account: Account

    /// What the person may do.
    public var rights: Rights { account.rights }
}

/// 256 random bits that stand for a session or an invitation. They are given out once, and only
/// their SHA-256 is stored: a reader of the file cannot sign in with it. Source: OWASP ASVS 4.0.3,
/// 3.2.2 and 3.2.3. Its description shows nothing of it.
public struct SecretToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// 64 hex digits in small letters, for a cookie or a link.
    public let text: String

    private static let byteCount = 32

    init() { text = SHA256.hex(RandomBytes.make(Self.byteCount)) }

    /// The token in a cookie or a link; nil if it is not one.
    public init?(_ text: String) {
        guard text.utf8.count == 2 * Self.byteCount, Hex.bytes(text) != nil else { return nil }
        self.text = text
    }

    /// The hash as a column holds it.
    static func stored(_ token: SecretToken) -> String { SHA256.hex(token.hash) }

    /// The part that is stored. A database may look it up without a constant time: an attacker
    /// without the token cannot choose its hash.
    var hash: [UInt8] { SHA256.digest(of: Array(text.utf8)) }

    /// Shows nothing of it.
    public var description: String { "(secret token)" }
    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
