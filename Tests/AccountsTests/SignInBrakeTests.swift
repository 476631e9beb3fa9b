import Base
import Testing

@testable import Accounts

/// A brake that can be asked within an expectation.
private final class Brake {
    private(set) var value: SignInBrake

    init(_ value: SignInBrake = SignInBrake()) { self.value = value }

    var count: Int { value.count }

    func attempt(_ name: AccountName?, from address: IPAddress?, at now: Timestamp) -> Int64 { value.attempt(name, from: address, at: now) }
    func succeeded(_ name: AccountName, from address: IPAddress?, at now: Timestamp) { value.succeeded(name, from: address, at: now) }
    func takeBack(_ name: AccountName?, from address: IPAddress?, at now: Timestamp) { value.takeBack(name, from: address, at: now) }
}

@Suite("The brake on guesses")
struct SignInBrakeTests {
    private func address(_ number: Int) throws -> IPAddress {
        try #require(IPAddress("10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"))
    }

    /// Fails as soon as it may, and returns the waits before each failure.
    private func waits(_ count: Int, _ name: AccountName?, _ address: IPAddress?, _ brake: Brake, from start: Timestamp = noon)
        -> [Int64]
    {
        var now = start
        return (0..<count).map { _ in
            let wait = brake.attempt(name, from: address, at: now)
            guard wait > 0 else { return 0 }
            now = now.adding(seconds: Double(wait))
            #expect(brake.attempt(name, from: address, at: now) == 0)
            return wait
        }
    }

    @Test("an account waits from its fourth try on, for 30 seconds at most")
    func account() throws {
        let brake = Brake()
        #expect(waits(10, try name("anna"), nil, brake) == [0, 0, 0, 1, 2, 4, 8, 16, 30, 30])
    }

    @Test("an address waits from its eleventh try on, for 15 minutes at most, whatever the names")
    func addresses() throws {
        let brake = Brake()
        #expect(waits(23, nil, home, brake) == [Int64](repeating: 0, count: 10) + [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
    }

    @Test("tries while there is something to wait for are turned away and make it no longer")
    func turnedAway() throws {
        let brake = Brake()
        let anna = try name("anna")
        _ = waits(8, anna, nil, brake)
        let now = after(1 + 2 + 4 + 8 + 16)
        let wait = brake.attempt(anna, from: nil, at: now)
        #expect(wait > 0)
        for _ in 0..<100 { #expect(brake.attempt(anna, from: nil, at: now) == wait) }
        #expect(brake.attempt(anna, from: nil, at: now.adding(seconds: Double(wait))) == 0)
    }

    @Test("a hundred tries at the same moment are not a hundred free ones")
    func atOnce() throws {
        let brake = Brake()
        let anna = try name("anna")
        let passed = try (0..<100).count { brake.attempt(anna, from: try address($0), at: noon) == 0 }
        #expect(passed == 3)
    }

    @Test("whoever signed in from an address is not slowed down there by guesses from elsewhere")
    func notLockedOut() throws {
        let brake = Brake()
        let anna = try name("anna")
        #expect(brake.attempt(anna, from: home, at: noon) == 0)
        brake.succeeded(anna, from: home, at: noon)
        for second in 0..<3_000 { _ = brake.attempt(anna, from: try address(second / 5), at: after(Int64(second))) }
        #expect(brake.attempt(anna, from: try address(99_999), at: after(3_000)) > 0)
        #expect(brake.attempt(anna, from: home, at: after(3_000)) == 0)
        // Elsewhere, the account's own slow-down is all there is.
        #expect(brake.attempt(anna, from: IPAddress("203.0.113.9"), at: after(3_000)) <= 30)
    }

    @Test("a success takes back the person's own mistypings, and no guesses of others")
    func success() throws {
        let brake = Brake()
        let (anna, ben) = (try name("anna"), try name("ben"))
        for _ in 0..<8 { #expect(brake.attempt(nil, from: home, at: noon) == 0) }
        for _ in 0..<2 { #expect(brake.attempt(anna, from: home, at: noon) == 0) }
        brake.succeeded(anna, from: home, at: noon)
        // Eight are left, so two are free.
        #expect(waits(3, ben, home, brake) == [0, 0, 1])
    }

    @Test("what was not tried is taken back")
    func takenBack() throws {
        let brake = Brake()
        let anna = try name("anna")
        for _ in 0..<50 {
            #expect(brake.attempt(anna, from: home, at: noon) == 0)
            brake.takeBack(anna, from: home, at: noon)
        }
        #expect(brake.count == 0)
    }

    @Test("a day without failures forgets them")
    func forgets() throws {
        let brake = Brake()
        let anna = try name("anna")
        _ = waits(30, anna, home, brake)
        let last = after(30 * 900)
        #expect(waits(4, anna, home, brake, from: last.adding(seconds: 86_400)) == [0, 0, 0, 1])
    }

    @Test("an IPv6 network counts as one, a mapped IPv4 address as that address")
    func networks() throws {
        let brake = Brake()
        for number in 0..<10 { #expect(brake.attempt(nil, from: IPAddress("2001:db8::\(number + 1)"), at: noon) == 0) }
        #expect(brake.attempt(nil, from: IPAddress("2001:db8::ffff"), at: noon) > 0)
        #expect(brake.attempt(nil, from: IPAddress("2001:db8:0:1::1"), at: noon) == 0)
        for _ in 0..<10 { _ = brake.attempt(nil, from: home, at: noon) }
        #expect(brake.attempt(nil, from: IPAddress("::ffff:192.0.2.1"), at: noon) > 0)
    }

    @Test("its memory is bounded, and keeps what happened last")
    func bounded() throws {
        let brake = Brake()
        for number in 0..<6_000 {
            _ = brake.attempt(try name("n\(number)"), from: try address(number), at: after(Int64(number) / 100))
            #expect(brake.count <= SignInBrake.mostEntries)
        }
        #expect(brake.count > SignInBrake.mostEntries / 2)
        let (now, last) = (after(400), try name("n5999"))
        for _ in 0..<2 { #expect(brake.attempt(last, from: nil, at: now) == 0) }
        #expect(brake.attempt(last, from: nil, at: now) > 0)
    }

    @Test("whatever happened and whatever the clock does, waiting as long as was said is enough", arguments: 0..<100)
    func neverForGood(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let brake = Brake()
        let names = [nil] + (try (0..<3).map { try name("n\($0)") })
        let addresses = [nil] + (try (0..<3).map { try address($0) })
        var (now, slowed) = (noon, 0)
        for _ in 0..<500 {
            let (name, address) = (names.randomElement(using: &random) ?? nil, addresses.randomElement(using: &random) ?? nil)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: now = now.adding(seconds: -Double.random(in: 0...1_000_000, using: &random))
            case 1: now = now.adding(seconds: .random(in: 0...100_000, using: &random))
            case 2: if let name { brake.succeeded(name, from: address, at: now) }
            case 3: brake.takeBack(name, from: address, at: now)
            default: now = now.adding(seconds: .random(in: 0...3, using: &random))
            }
            let wait = brake.attempt(name, from: address, at: now)
            #expect(wait <= (address == nil ? SignInBrake.longestOfAccount : SignInBrake.longestOfAddress))
            guard wait > 0 else { continue }
            slowed += 1
            let copy = Brake(brake.value)
            #expect(copy.attempt(name, from: address, at: now.adding(seconds: Double(wait))) == 0)
        }
        #expect(slowed > 0)
    }
}
