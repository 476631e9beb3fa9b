import Accounts
import Base
import Cryptography
import Foundation
import Synchronization
import Testing

@testable import volley_console

@Suite("one's own account")
struct OwnAccountTests {
    private static let new = "purple anvil beside nine herons"

    /// The session of the cookie that an answer sets.
    static func session(of reply: Reply) throws -> String {
        let cookie = try #require(reply.all("set-cookie").first { $0.hasPrefix("volley=") })
        return String(cookie.dropFirst("volley=".count).prefix(64))
    }

    /// The code of a second factor as an app computes it (RFC 6238).
    static func code(_ letters: String, at now: Timestamp = .now()) throws -> String {
        var (bytes, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
        for letter in letters where letter != " " {
            let value = try #require("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".firstIndex(of: letter))
            bits =
                bits << 5
                | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".distance(
                    from: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".startIndex, to: value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= 1 << count - 1
            }
        }
        let step = UInt64(now.epochSeconds / 30)
        let hash = HMACSHA1.code(
            of: (0..<8).map { UInt8(truncatingIfNeeded: step >> (8 * (7 - UInt64($0)))) }, key: bytes)
        let offset = Int(hash[19] & 15)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        return TextFormat.zeroPadded(Int(number % 1_000_000), digits: 6)
    }

    @Test("a new password needs the old one, ends every other session, and wrong ones slow down")
    func password() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let here = try site.session("vera", [.viewer])
        let there = try site.enter("vera")
        try await TestServer.with(site) { server throws in
            func change(_ old: String, _ new: String, again: String? = nil, session: String = here) throws -> Reply {
                try server.form(
                    "/account/password", session: session, [("password", old), ("new", new), ("again", again ?? new)])
            }
            #expect(
                try server.request("GET", "/", session: here).body.contains(
                    "<a href=\"/account\" dir=\"auto\">vera</a>"))
            #expect(try change(Site.password, Self.new, again: "another").body.contains("The two new passwords differ"))
            let easy = try change(Site.password, "password1234")
            #expect(easy.status == 422 && easy.body.contains("role=\"alert\">The password is"))
            let wrong = try change("not the old one", Self.new)
            #expect(wrong.status == 422 && wrong.body.contains("The password that you have now is another one."))
            for body in [easy.body, wrong.body] {
                #expect(!body.contains("password1234") && !body.contains(Self.new) && !body.contains("not the old one"))
            }
            let right = try change(Site.password, Self.new)
            #expect(right.status == 303 && right["location"] == "/account?done=password")
            for old in [here, there] { #expect(try server.request("GET", "/account", session: old).status == 303) }
            let session = try Self.session(of: right)
            let page = try server.request("GET", "/account?done=password", session: session)
            #expect(
                page.status == 200
                    && page.body.contains("Your password was changed. You are signed out everywhere else."))
            let statuses = try (0..<8).map { _ in try change("guess", "\(Self.new)!", session: session).status }
            #expect(statuses.first == 422 && statuses.contains(429), "\(statuses)")
            let kinds = try site.accounts.activities().activities.map(\.kind)
            #expect(kinds.contains(.passwordChanged) && kinds.contains(.signInFailed(.wrongPassword)))
        }
    }

    @Test(
        "the picture of a key has what cameras look for: three corners and a blank margin; another key is another picture"
    )
    func picture() throws {
        let code = try #require(
            QRCode("otpauth://totp/Volley:ed?secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567&issuer=Volley"))
        let size = code.rows.count
        #expect(size >= 21 && (size - 17) % 4 == 0 && code.rows.allSatisfy { $0.count == size })
        // A dark frame of 7 modules, in it a light one, in it a dark square (ISO/IEC 18004, 5.3.2).
        let corner = (0..<7).map { y in (0..<7).map { x in max(abs(x - 3), abs(y - 3)) != 2 } }
        for (top, left) in [(0, 0), (0, size - 7), (size - 7, 0)] {
            #expect(code.rows[top..<top + 7].map { Array($0[left..<left + 7]) } == corner)
        }
        #expect(
            QRCode("otpauth://totp/Volley:ed?secret=BBCDEFGHIJKLMNOPQRSTUVWXYZ234567&issuer=Volley")?.rows != code.rows)
        #expect(code.html(label: "Key").markup.contains("viewBox=\"0 0 \(size + 8) \(size + 8)\""))
        #expect(QRCode(String(repeating: "x", count: 5_000)) == nil)
    }

    @Test(
        "a second factor is set up by a code of the app; key and recovery codes are shown once, and signing in needs a code then"
    )
    func secondFactor() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let here = try site.session("vera", [.viewer])
        let there = try site.enter("vera")
        try await TestServer.with(site) { server throws in
            let begun = try server.form("/account/factor", session: here)
            #expect(begun.status == 200)
            let key = String(try #require(begun.body.firstMatch(of: #/<code>([A-Z2-7 ]{39})<\/code>/#)).1)
            #expect(
                begun.body.contains(
                    "otpauth://totp/Volley:vera?secret=\(key.replacing(" ", with: ""))&amp;issuer=Volley"))
            let wrong = try server.form("/account/factor/confirm", session: here, [("code", "000000")])
            #expect(wrong.status == 422 && wrong.body.contains("The code is not right.") && !wrong.body.contains(key))
            let done = try server.form("/account/factor/confirm", session: here, [("code", try Self.code(key))])
            #expect(done.status == 200)
            let codes = done.body.matches(of: #/<li><code>([A-Z2-7-]{19})<\/code>/#).map { String($0.1) }
            #expect(codes.count == 10)
            #expect(try server.request("GET", "/account", session: there).status == 303, "signed out elsewhere")
            let page = try server.request("GET", "/account", session: here).body
            #expect(page.contains("You have 10 recovery codes left"))
            #expect(
                codes.allSatisfy { !page.contains($0) } && !page.contains(key)
                    && !page.contains(key.replacing(" ", with: "")))
            // Twice is once.
            #expect(try server.form("/account/factor", session: here).status == 422)
            func prove(_ code: String) throws -> Reply {
                try server.form(
                    "/account/proof", session: here, [("password", Site.password), ("code", code), ("to", "/account")])
            }
            #expect(
                try server.request("GET", "/account/proof?to=/account", session: here).body.contains("name=\"code\""))
            #expect(try prove("").status == 401)
            let proved = try prove(codes[0])
            #expect(proved.status == 200)
            let session = try Self.session(of: proved)
            #expect(
                try server.request("GET", "/account", session: session).body.contains("You have 9 recovery codes left"))
            #expect(try server.form("/account/factor/remove", session: session)["location"] == "/account?done=factor")
            #expect(try server.form("/account/factor/remove", session: session).status == 303, "a second click")
            #expect(try server.request("GET", "/account", session: session).body.contains("Set up a second factor"))
            let told = try JSONEncoder().encode(site.accounts.activities().activities.map { "\($0)" })
            #expect(codes.allSatisfy { !String(decoding: told, as: UTF8.self).contains($0) })
        }
    }

    @Test("a session is known by its browser, and one that is ended elsewhere is out")
    func sessions() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let here = try site.session("vera", [.viewer])
        let there = try site.enter(
            "vera", agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0")
        _ = try site.session("eva", [.viewer])
        try await TestServer.with(site) { server throws in
            let page = try server.request("GET", "/account", session: here).body
            #expect(page.contains("Firefox on Windows") && page.contains("<span class=\"note\">this one</span>"))
            let ends = page.matches(of: #/action="(\/account\/sessions\/[0-9]+\/end)"/#).map { String($0.1) }
            #expect(ends.count == 1, "only her own others")
            #expect(try server.request("GET", "/account", session: there).status == 200)
            // Another's session stays.
            #expect(try server.form("/account/sessions/3/end", session: here).status == 303)
            #expect(try site.accounts.sessions(of: AccountID(2), at: .now()).count == 1)
            #expect(try server.form(try #require(ends.first), session: here)["location"] == "/account?done=session")
            #expect(try server.request("GET", "/account", session: there).status == 303)
            #expect(try server.form("/account/password", session: there).status == 303)
        }
    }

    @Test("the browser that signs in is kept with the session")
    func agent() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        try site.person("vera", [.viewer])
        try await TestServer.with(site) { server throws in
            let secret = Secrets.make()
            let reply = try server.request(
                "POST", "/sign-in",
                headers: [
                    ("Origin", "http://127.0.0.1:\(server.port)"), ("Cookie", "volley-form=\(secret)"),
                    ("User-Agent", "Mozilla/5.0 (iPhone) Safari/604.1" + String(repeating: "x", count: 1000)),
                ],
                form: [("name", "vera"), ("password", Site.password), ("token", CSRFProtection.token(of: secret))])
            #expect(reply.status == 303)
            let kept = try #require(try site.accounts.sessions(of: AccountID(1), at: .now()).first?.agent)
            #expect(kept.hasPrefix("Mozilla/5.0 (iPhone)") && kept.utf8.count <= 200)
            #expect(
                try server.request("GET", "/account", session: Self.session(of: reply)).body.contains(
                    "Safari on iPhone"))
        }
    }
}
