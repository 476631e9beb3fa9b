import Base
import Cryptography
import Synchronization
import Testing

@testable import Delivery

@Suite("provider tokens")
struct ProviderTokenTests {
    private final class Clock: Sendable {
        private let minutes = Mutex(0)
        func set(minutes value: Int) { minutes.withLock { $0 = value } }
        var now: Moment {
            let minutes = minutes.withLock { Int64($0) }
            return Moment(
                nanoseconds: (100 + minutes) * 60_000_000_000,
                wall: Timestamp(epochSeconds: 1_800_000_000 + minutes * 60))
        }
    }

    private let clock = Clock()
    private let key = SigningKey.generate()
    private let history = SignedTokenHistory()

    private func source(_ key: SigningKey? = nil) -> SignedTokenSource {
        let clock = clock
        return SignedTokenSource(key: key ?? self.key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", history: history) {
            clock.now
        }
    }

    private func decode(_ part: Substring) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var bits = 0
        var count = 0
        var bytes: [UInt8] = []
        for character in part {
            bits = (bits << 6 | (digits.firstIndex(of: character) ?? 0)) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }

    @Test("a token is a signed ES256 JWT with kid, iss and iat")
    func form() throws {
        let parts = source().current().value.dropFirst("bearer ".count).split(separator: ".")
        #expect(parts.count == 3)
        let header = try JSONValue(parsing: decode(parts[0]))
        let claims = try JSONValue(parsing: decode(parts[1]))
        #expect(header["alg"]?.stringValue == "ES256")
        #expect(header["kid"]?.stringValue == "ABC123DEFG")
        #expect(claims["iss"]?.stringValue == "DEF123GHIJ")
        #expect(claims["iat"]?.integerValue == 1_800_000_000)
        #expect(key.verificationKey.isValid(decode(parts[2]), for: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test("machines that send together date tokens by their common clock, in whatever way this machine's is set")
    func commonClock() throws {
        let common = CommonClock(),
            source = SignedTokenSource(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: common)
        common.correct(bySeconds: -3600.25)
        let parts = source.current().value.dropFirst("bearer ".count).split(separator: ".")
        let issued = try #require(try JSONValue(parsing: decode(parts[1]))["iat"]?.integerValue)
        #expect(abs(issued - (Timestamp.now().epochSeconds - 3600)) < 60)
        #expect(common.offsetSeconds == -3600.25)
    }

    @Test("no token is used for longer than 50 minutes, and none replaced before")
    func age() {
        let source = source()
        let first = source.current()
        clock.set(minutes: 49)
        #expect(source.current() == first)
        clock.set(minutes: 50)
        #expect(source.current() != first)
    }

    @Test("two sources of the same key share one history, those of another key do not")
    func sharedHistory() {
        let first = source().current()
        clock.set(minutes: 10)
        #expect(source().current() == first)
        #expect(source(.generate()).current() != first)
    }

    @Test("a token called expired is renewed once, but never within 20 minutes")
    func renewal() throws {
        let source = source()
        let first = source.current()
        clock.set(minutes: 19)
        #expect(source.renew(after: first) == nil)
        #expect(source.current() == first)
        clock.set(minutes: 20)
        let second = try #require(source.renew(after: first))
        #expect(second != first)
        #expect(source.renew(after: first) == second, "another connection takes what is there already")
        #expect(source.current() == second)
        #expect(source.renew(after: second) == nil)
    }

    @Test(
        "a loop changes its connections when the token grows old, also while the machine slept, and when another loop renewed it"
    )
    func watch() {
        let source = source()
        var watch = CredentialRenewal()
        let isFirst = watch.check(source, at: clock.now.nanoseconds) == .changed
        #expect(!isFirst)
        #expect(watch.token == source.current())
        clock.set(minutes: 50)
        let isOld = watch.check(source, at: clock.now.nanoseconds) == .changed
        #expect(isOld)
        let isOldTwice = watch.check(source, at: clock.now.nanoseconds + 1_000_000_000) == .changed
        #expect(!isOldTwice)
        clock.set(minutes: 75)
        _ = source.renew(after: source.current())
        let isRenewed = watch.check(source, at: clock.now.nanoseconds) == .changed
        #expect(isRenewed)
    }

    @Test("a token that came between a connection that found none and the next look is new for the connections")
    func watchAwaits() {
        let source = source()
        var watch = CredentialRenewal()
        _ = watch.check(source, at: clock.now.nanoseconds)
        let known = watch.check(source, at: clock.now.nanoseconds + 2_000_000_000)
        #expect(known == .known)
        let awaited = watch.check(source, isAwaited: true, at: clock.now.nanoseconds + 2_000_000_000)
        #expect(awaited == .changed)
    }

    @Test(
        "a token that one connection had to renew is renewed for all of them, so that none uses it for more than an hour"
    )
    func watchRenews() throws {
        let source = source()
        var watch = CredentialRenewal()
        _ = watch.check(source, at: clock.now.nanoseconds)
        let first = try #require(watch.token)
        let early = watch.renew(source, after: first)
        #expect(early == .refused)
        clock.set(minutes: 25)
        let late = watch.renew(source, after: first)
        #expect(late == .changed)
        let second = watch.renew(source, after: first)
        #expect(second == .known, "another connection that used the old one")
        let isChanged = watch.check(source, at: clock.now.nanoseconds + 2_000_000_000) == .changed
        #expect(!isChanged)
    }
}
