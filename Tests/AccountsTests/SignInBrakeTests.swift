import Base
import Testing

@testable import Accounts

/// A brake that can be used within an expectation, and keeps the last ticket.
private final class Brake {
    private(set) var value: SignInThrottle
    private var ticket: SignInThrottle.Ticket?

    init(_ value: SignInThrottle = SignInThrottle()) { self.value = value }

    var count: Int { value.count }

    func attempt(
        _ name: AccountName?, from address: IPAddress?, at now: Timestamp, _ step: SignInThrottle.Step = .password,
        device: String? = nil
    ) -> Int64 {
        switch value.attempt(step, of: name, from: SignInSource(address: address, device: device), at: now) {
        case .goAhead(let ticket):
            self.ticket = ticket
            return 0
        case .wait(let seconds): return seconds
        }
    }

    func succeeded(at now: Timestamp) { if let ticket { value.succeeded(ticket, at: now) } }
    func takeBack(at now: Timestamp) { if let ticket { value.takeBack(ticket, at: now) } }
}

@Suite("The brake on guesses")
struct SignInBrakeTests {
    private func address(_ number: Int) throws -> IPAddress {
        try #require(IPAddress("10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"))
    }

    /// Fails as soon as it is allowed to, and returns the wait before each failure.
    private func waits(
        _ count: Int, _ name: AccountName?, _ address: IPAddress?, _ throttle: Brake,
        _ step: SignInThrottle.Step = .password,
        from start: Timestamp = noon
    ) -> [Int64] {
        var now = start
        return (0..<count).map { _ in
            let wait = throttle.attempt(name, from: address, at: now, step)
            guard wait > 0 else { return 0 }
            now = now.adding(seconds: Double(wait))
            #expect(throttle.attempt(name, from: address, at: now, step) == 0)
            return wait
        }
    }

    @Test("an account waits from its fourth try in one place on, for 30 seconds at most")
    func account() throws {
        let throttle = Brake()
        #expect(waits(10, try name("anna"), nil, throttle) == [0, 0, 0, 1, 2, 4, 8, 16, 30, 30])
    }

    @Test("an address waits from its eleventh try on, for 15 minutes at most, whatever the names")
    func addresses() throws {
        let throttle = Brake()
        #expect(
            waits(23, nil, home, throttle) == [Int64](repeating: 0, count: 10) + [
                1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900,
            ])
    }

    @Test("codes have a count of their own: three are free in one place, then each costs half a minute and more")
    func codes() throws {
        let throttle = Brake(), anna = try name("anna")
        #expect(waits(10, anna, home, throttle, .code) == [0, 0, 0, 30, 60, 120, 240, 480, 900, 900])
        #expect(throttle.attempt(anna, from: home, at: noon) == 0)
        // Passwords do not count as codes, either.
        let other = Brake()
        _ = waits(10, anna, home, other)
        #expect(other.attempt(anna, from: home, at: noon, .code) == 0)
    }

    @Test(
        "wrong passwords from one address cost the owner at another one nothing, known or not", arguments: [3, 10, 200])
    func elsewhere(wrong: Int) throws {
        let throttle = Brake(), anna = try name("anna")
        for _ in 0..<wrong { _ = throttle.attempt(anna, from: home, at: noon) }
        #expect(throttle.attempt(anna, from: IPAddress("203.0.113.9"), at: noon) == 0)
    }

    @Test(
        "however many addresses guess, an account sees 100 wrong passwords in an hour at most, and 22 wrong codes",
        arguments: [(SignInThrottle.Step.password, 100, 60), (.code, 22, 300)])
    func distributed(step: SignInThrottle.Step, most: Int, longest: Int) throws {
        let throttle = Brake(), anna = try name("anna")
        var passed = 0
        for second in 0..<3_600 {
            for address in [try address(2 * second), try address(2 * second + 1)] {
                let wait = throttle.attempt(anna, from: address, at: after(Int64(second)), step)
                #expect(wait <= Int64(longest))
                passed += wait == 0 ? 1 : 0
            }
        }
        #expect((most - 1...most).contains(passed))
    }

    @Test("tries while there is something to wait for are turned away and make it no longer")
    func turnedAway() throws {
        let throttle = Brake()
        let anna = try name("anna")
        _ = waits(8, anna, nil, throttle)
        let now = after(1 + 2 + 4 + 8 + 16)
        let wait = throttle.attempt(anna, from: nil, at: now)
        #expect(wait > 0)
        for _ in 0..<100 { #expect(throttle.attempt(anna, from: nil, at: now) == wait) }
        #expect(throttle.attempt(anna, from: nil, at: now.adding(seconds: Double(wait))) == 0)
    }

    @Test("a hundred tries at the same moment are not a hundred free ones")
    func atOnce() throws {
        let throttle = Brake()
        let anna = try name("anna")
        let here = (0..<100).count { _ in throttle.attempt(anna, from: home, at: noon) == 0 }
        let elsewhere = try (0..<100).count { throttle.attempt(anna, from: try address($0), at: noon) == 0 }
        #expect(here == 3 && elsewhere == 37)
    }

    @Test(
        "where the owner signed in, neither guesses from elsewhere nor, in the same browser, those of the same network slow them down"
    )
    func notLockedOut() throws {
        let throttle = Brake()
        let anna = try name("anna")
        #expect(throttle.attempt(anna, from: home, at: noon, device: "browser") == 0)
        throttle.succeeded(at: noon)
        for second in 0...3_000 { _ = throttle.attempt(anna, from: try address(second), at: after(Int64(second))) }
        #expect(throttle.attempt(anna, from: try address(99_999), at: after(3_000)) > 0)
        #expect(throttle.attempt(anna, from: home, at: after(3_000)) == 0)
        #expect(throttle.attempt(anna, from: try address(99_999), at: after(3_000), device: "browser") == 0)
        // Elsewhere, only the account's own limit applies.
        #expect(throttle.attempt(anna, from: IPAddress("203.0.113.9"), at: after(3_000)) <= 60)
        for _ in 0..<100 { _ = throttle.attempt(nil, from: home, at: after(3_001)) }
        #expect(throttle.attempt(anna, from: home, at: after(3_001)) > 0)
        #expect(throttle.attempt(anna, from: home, at: after(3_001), device: "browser") == 0)
        // It was another person's browser, or a made-up one.
        #expect(throttle.attempt(try name("ben"), from: home, at: after(3_001), device: "browser") > 0)
        #expect(throttle.attempt(anna, from: home, at: after(3_001), device: "other") > 0)
    }

    @Test("a browser that was stolen has ten tries, then it is like any other")
    func stolenBrowser() throws {
        let throttle = Brake(), anna = try name("anna")
        _ = throttle.attempt(anna, from: home, at: noon, device: "browser")
        throttle.succeeded(at: noon)
        let thief = IPAddress("203.0.113.9")
        var now = noon, tries = 0
        while now < after(4 * 3_600) {
            let wait = throttle.attempt(anna, from: thief, at: now, device: "browser")
            tries += wait == 0 ? 1 : 0
            now = now.adding(seconds: Double(max(1, wait)))
        }
        #expect(tries < 10 + 40, "the network's own count limits the rest")
    }

    @Test("a success takes back the person's own mistypings, and no guesses of others")
    func success() throws {
        let throttle = Brake()
        let (anna, ben) = (try name("anna"), try name("ben"))
        for _ in 0..<8 { #expect(throttle.attempt(nil, from: home, at: noon) == 0) }
        for _ in 0..<2 { #expect(throttle.attempt(anna, from: home, at: noon) == 0) }
        throttle.succeeded(at: noon)
        // Eight are left, so two are free.
        #expect(waits(3, ben, home, throttle) == [0, 0, 1])
    }

    @Test("a right code takes back the mistyped passwords before it")
    func codeAfterPasswords() throws {
        let throttle = Brake(), anna = try name("anna")
        for _ in 0..<3 { #expect(throttle.attempt(anna, from: home, at: noon) == 0) }
        #expect(throttle.attempt(anna, from: home, at: noon) > 0)
        #expect(throttle.attempt(anna, from: home, at: noon, .code) == 0)
        throttle.succeeded(at: noon)
        #expect(throttle.attempt(anna, from: home, at: noon) == 0)
    }

    @Test("what was not tried is taken back, and a look counts nothing")
    func takenBack() throws {
        let throttle = Brake()
        let anna = try name("anna")
        for _ in 0..<50 {
            #expect(throttle.attempt(anna, from: home, at: noon) == 0)
            throttle.takeBack(at: noon)
        }
        #expect(throttle.count == 0)
        // A cleared failure does not extend the wait for an earlier one.
        for _ in 0..<3 { #expect(throttle.attempt(anna, from: home, at: noon) == 0) }
        #expect(throttle.attempt(anna, from: home, at: after(1)) == 0)
        throttle.takeBack(at: after(1))
        #expect(throttle.attempt(anna, from: home, at: after(1)) == 0)
        var value = SignInThrottle()
        let source = SignInSource(address: home)
        let looks = (0..<50).map { _ in value.wait(.password, of: anna, from: source, at: noon) }
        #expect(looks.allSatisfy { $0 == 0 })
        for _ in 0..<3 { _ = value.attempt(.password, of: anna, from: source, at: noon) }
        let wait = value.wait(.password, of: anna, from: source, at: noon)
        #expect(wait == 1)
    }

    @Test("a day without failures forgets them")
    func forgets() throws {
        let throttle = Brake()
        let anna = try name("anna")
        _ = waits(30, anna, home, throttle)
        let last = after(30 * 900)
        #expect(waits(4, anna, home, throttle, from: last.adding(seconds: 86_400)) == [0, 0, 0, 1])
    }

    @Test("an IPv6 network counts as one, a mapped IPv4 address as that address")
    func networks() throws {
        let throttle = Brake()
        for number in 0..<10 {
            #expect(throttle.attempt(nil, from: IPAddress("2001:db8::\(number + 1)"), at: noon) == 0)
        }
        #expect(throttle.attempt(nil, from: IPAddress("2001:db8::ffff"), at: noon) > 0)
        #expect(throttle.attempt(nil, from: IPAddress("2001:db8:0:1::1"), at: noon) == 0)
        #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.clientNetwork == IPAddress("2001:db8:1:2::"))
        for _ in 0..<10 { _ = throttle.attempt(nil, from: home, at: noon) }
        #expect(throttle.attempt(nil, from: IPAddress("::ffff:192.0.2.1"), at: noon) > 0)
    }

    @Test("its memory is bounded, keeps what happened last, and a flood of names makes it forget no owner")
    func bounded() throws {
        let throttle = Brake(), anna = try name("anna")
        _ = throttle.attempt(anna, from: home, at: noon, device: "browser")
        throttle.succeeded(at: noon)
        for number in 0..<6_000 {
            _ = throttle.attempt(try name("n\(number)"), from: try address(number), at: after(Int64(number) / 100))
            #expect(throttle.count <= SignInThrottle.mostEntries)
        }
        #expect(throttle.count > SignInThrottle.mostEntries / 2)
        let (now, last, place) = (after(400), try name("n5999"), try address(5_999))
        for _ in 0..<2 { #expect(throttle.attempt(last, from: place, at: now) == 0) }
        #expect(throttle.attempt(last, from: place, at: now) > 0)
        for _ in 0..<100 { _ = throttle.attempt(nil, from: home, at: now) }
        #expect(throttle.attempt(anna, from: home, at: now, device: "browser") == 0)
    }

    @Test("whatever happened and whatever the clock does, waiting as long as was said is enough", arguments: 0..<100)
    func neverForGood(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let throttle = Brake()
        let names = [nil] + (try (0..<3).map { try name("n\($0)") })
        let addresses = [nil] + (try (0..<3).map { try address($0) })
        var (now, slowed) = (noon, 0)
        for _ in 0..<500 {
            let (name, address) = (
                names.randomElement(using: &random) ?? nil, addresses.randomElement(using: &random) ?? nil
            )
            let step = SignInThrottle.Step.allCases.randomElement(using: &random) ?? .code
            let device = [nil, "one", "other"].randomElement(using: &random) ?? nil
            switch Int.random(in: 0..<20, using: &random) {
            case 0: now = now.adding(seconds: -Double.random(in: 0...1_000_000, using: &random))
            case 1: now = now.adding(seconds: .random(in: 0...100_000, using: &random))
            case 2: throttle.succeeded(at: now)
            case 3: throttle.takeBack(at: now)
            default: now = now.adding(seconds: .random(in: 0...3, using: &random))
            }
            let wait = throttle.attempt(name, from: address, at: now, step, device: device)
            #expect(
                wait <= (address == nil && step == .password ? SignInThrottle.longestOfAccount : SignInThrottle.longest)
            )
            guard wait > 0 else { continue }
            slowed += 1
            let copy = Brake(throttle.value)
            #expect(copy.attempt(name, from: address, at: now.adding(seconds: Double(wait)), step, device: device) == 0)
        }
        #expect(slowed > 0)
    }
}
