import Base
import Cryptography
import Foundation
import Synchronization
import Testing

@testable import Accounts

@Suite("Passwords")
struct PasswordTests {
    private func flaw(_ password: String) throws -> PasswordFlaw? {
        PasswordRules.flaw(
            in: password, name: try name("anna.schmidt@example.com"), displayName: try DisplayName("Anna Größe-Müller"))
    }

    @Test(
        "what is hard to guess is accepted, of any language and without classes of characters",
        arguments: [
            goodPassword, "correct battery horse staple", "twelve chars", "我喜欢下雨天在家里看书", "пять медведей",
            "x7#Kq9!mZp2v", "🦊🐻🦁🐼🐸🐙🦉🐝🐢🦋🐳🦄",
            "the password of my aunt", "anna likes to eat plums", String(repeating: "a b c d e ", count: 25),
        ].map { $0.count < 12 ? $0 + "吗" : $0 })
    func accepted(password: String) throws {
        // The last one repeats a piece of ten characters: long enough to count.
        #expect(try flaw(password) == nil)
    }

    @Test(
        "what is tried first is refused",
        arguments: [
            ("", PasswordFlaw.short), ("elevenchars", .short), ("👨‍👩‍👧‍👦", .short),
            (String(repeating: "harbour ", count: 40), .long),
            (String(repeating: "x", count: 1 << 20), .long), ("quiet harbour\n", .control),
            ("quiet\u{0}harbour", .control),
            ("aaaaaaaaaaaaaaaa", .repeated), ("abababababab", .repeated), ("xyz12xyz12xyz12", .repeated),
            ("passwordpassword", .common),
            ("123456789012", .sequence), ("abcdefghijklmn", .sequence), ("qwertyuiopas", .sequence),
            ("lkjhgfdsapoi", .sequence),
            ("P@ssw0rd2026!", .common), ("Welcome12345", .common), ("1q2w3e4r5t6y", .common),
            ("woaini1314520", .common),
            ("iloveyou12345", .common), ("administrator", .common), ("Anna.Schmidt1", .name), ("volley+volley2", .name),
            ("example.com12", .name), ("größemüller12", .name), ("schmidtanna99", .name),
        ])
    func refused(password: String, expected: PasswordFlaw) throws { #expect(try flaw(password) == expected) }

    @Test("a hash fits its password alone, is different each time, and is read back")
    func hashes() throws {
        let hasher = try quickHasher()
        let anna = try name("anna")
        let (one, other) = (try hasher.hash(goodPassword, of: anna, nil), try hasher.hash(goodPassword, of: anna, nil))
        #expect(one != other && one.salt != other.salt)
        #expect(PasswordHash(text: one.text) == one)
        #expect(try one.fits(goodPassword) && other.fits(goodPassword))
        for wrong in ["", "Quiet harbour lantern", goodPassword + " ", goodPassword + "\u{0}"] {
            #expect(try !one.fits(wrong))
        }
    }

    @Test("what is cut for hashing is no other password")
    func long() throws {
        let hash = try PasswordHash(
            of: String(repeating: "x", count: 256), #require(Scrypt(costBits: 4, blockSize: 8, parallelism: 1)))
        #expect(try hash.fits(String(repeating: "x", count: 256)) && !hash.fits(String(repeating: "x", count: 257)))
    }

    @Test("hashes are made as is promised, and those with other parameters are replaced when the password is right")
    func parameters() throws {
        let standard = try #require(PasswordHash.standard)
        #expect(standard == Scrypt(costBits: 15, blockSize: 8, parallelism: 1))
        let hash = try quickHasher().hash(goodPassword, of: name("anna"), nil)
        #expect(hash.text.hasPrefix("$scrypt$ln=4,r=8,p=1$"))
        guard case .right(let stronger?) = try PasswordHasher().check(goodPassword, hash) else {
            Issue.record("a weaker hash stays")
            return
        }
        #expect(stronger.scrypt == standard && stronger.text.hasPrefix("$scrypt$ln=15,r=8,p=1$"))
        guard case .right(nil) = try PasswordHasher().check(goodPassword, stronger) else {
            Issue.record("a hash is made anew without a reason")
            return
        }
        guard case .wrong = try PasswordHasher().check("another harbour", stronger) else {
            Issue.record("any password is right")
            return
        }
        guard case .wrong = try PasswordHasher().check(goodPassword, nil) else {
            Issue.record("nobody has a password")
            return
        }
    }

    @Test(
        "a damaged hash is not read, nor one that takes all memory",
        arguments: [
            "", "$scrypt$", "$scrypt$ln=15,r=8,p=1$00$00", "$scrypt$ln=40,r=8,p=1$SALT$KEY",
            "$scrypt$ln=15,r=8$SALT$KEY",
            "$argon2$ln=15,r=8,p=1$SALT$KEY", "$scrypt$r=8,ln=15,p=1$SALT$KEY", "$scrypt$ln=15,r=8,p=1$SALT$KEY$",
            "$scrypt$ln=15,r=8,p=1$SALT$KEx",
        ])
    func damaged(text: String) {
        let text = text.replacing("SALT", with: String(repeating: "0", count: 32)).replacing(
            "KEY", with: String(repeating: "0", count: 64))
        #expect(PasswordHash(text: text) == nil)
    }

    @Test("never more than two are computed at a time, some wait, and all others are turned away at once")
    func limit() throws {
        struct State {
            var running = 0, most = 0, done = 0, refused = 0
        }
        let state = Mutex(State()), limit = WorkLimit(2, mostWaiting: 3)
        let bothWork = DispatchSemaphore(value: 0), letGo = DispatchSemaphore(value: 0), ends = DispatchGroup(),
            gone = DispatchSemaphore(value: 0)
        for _ in 0..<12 {
            let thread = Thread {
                do {
                    try limit.run {
                        state.withLock {
                            $0.running += 1
                            $0.most = max($0.most, $0.running)
                        }
                        bothWork.signal()
                        letGo.wait()
                        state.withLock {
                            $0.running -= 1
                            $0.done += 1
                        }
                    }
                } catch {
                    state.withLock { $0.refused += error as? AccountError == .busy ? 1 : 0 }
                    gone.signal()
                }
                ends.leave()
            }
            ends.enter()
            thread.start()
        }
        // No working person leaves before seven of twelve were turned away.
        for _ in 0..<7 { gone.wait() }
        for _ in 0..<2 { bothWork.wait() }
        for _ in 0..<5 { letGo.signal() }
        ends.wait()
        state.withLock {
            #expect($0.most == 2 && $0.done == 5 && $0.refused == 7)
        }
    }
}
