import Base
import Testing

@testable import Accounts

@Suite("Signing in")
struct SignInTests {
    @Test("name and password sign in; what is wrong is not told apart")
    func signIn() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try #require(try folder.account("ben", [RoleGrant(.editor, .app("shop"))]).account)
        let found = try #require(try folder.store.signedIn(folder.token(" BEN "), at: noon))
        #expect(
            found.account.id == ben && found.rights.allows(.edit, app: "shop")
                && !found.rights.allows(.edit, app: "news"))
        #expect(found.session.address == home && found.session.agent == "a browser" && found.session.isFresh(at: noon))
        try folder.store.disable(ben, by: ada, at: noon)
        for (number, (name, password)) in [
            ("ben", goodPassword), ("nobody", goodPassword), ("root.admin", "wrong password"),
        ].enumerated() {
            #expect(try folder.signIn(name, password: password, from: IPAddress("10.0.0.\(number)")) == .refused)
        }
        let failures = try folder.store.activities(ActivityFilter(kind: .signInFailed)).activities.map(\.kind)
        #expect(failures == [.signInFailed(.wrongPassword), .signInFailed(.disabled)])
    }

    @Test(
        "hostile names are refused like any other",
        arguments: [
            "", "\u{0}", "ben\u{0}", "' OR 1=1 --", "\u{202E}neb", "ben\n", String(repeating: "b", count: 1 << 20),
        ])
    func hostile(text: String) throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        #expect(try folder.signIn(text) == .refused)
        #expect(try folder.signIn("ben", password: text) == .refused)
        let attempt = SignInAttempt(name: "ben", password: goodPassword, source: atHome, agent: text + "\u{1B}[2J")
        guard case .signedIn(let token) = try folder.authenticator.signIn(attempt, at: noon) else {
            Issue.record("not signed in")
            return
        }
        let agent = try #require(try folder.store.signedIn(token, at: noon)).session.agent
        #expect(
            agent.utf8.count <= 200 && agent.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }

    @Test("the same work is done for a name that does not exist as for a wrong password")
    func sameWork() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        // A hasher that accepts no work shows which attempts would have been hashed.
        let authenticator = Authenticator(folder.store, try quickHasher(mostWaiting: -2))
        for text in ["ben", "nobody", "no name at all", ""] {
            #expect(throws: AccountError.busy) {
                try authenticator.signIn(
                    SignInAttempt(name: text, password: goodPassword, source: atHome, agent: ""), at: noon)
            }
        }
    }

    @Test("guesses are slowed down, by account and by address, and the right password comes through afterwards")
    func slowed() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        for _ in 0..<3 { #expect(try folder.signIn("ben", password: "wrong password") == .refused) }
        #expect(try folder.signIn("ben") == .slowDown(seconds: 1))
        #expect(folder.authenticator.mustWait("Ben", from: atHome, at: noon))
        let elsewhere = IPAddress("203.0.113.9")
        _ = try folder.token("ben", from: elsewhere)
        _ = try folder.token("ben", at: after(1))
        for number in 0..<10 { #expect(try folder.signIn("x\(number)", from: elsewhere) == .refused) }
        #expect(try folder.signIn("x", from: elsewhere) == .slowDown(seconds: 1))
    }

    @Test("with a second factor the password gives no right, and each code works once")
    func secondFactor() throws {
        let folder = try AccountFolder()
        let id = try #require(try folder.account("ben", []).account)
        let (secret, codes) = try folder.secondFactor(of: "ben")
        #expect(try folder.store.account(id)?.hasSecondFactor == true && codes.count == 10 && Set(codes).count == 10)
        let now = after(300)
        let code = secret.code(ofStep: TOTPSecret.step(at: now))
        func password() throws -> SecretToken {
            guard case .needsCode(let token) = try folder.signIn("ben", at: now) else {
                throw Diagnostic("no code is asked for")
            }
            return token
        }
        let token = try password()
        #expect(try folder.store.signedIn(token, at: now) == nil)
        guard case .signedIn(let session) = try folder.authenticator.enterCode(code, for: token, from: atHome, at: now)
        else {
            Issue.record("the code is not accepted")
            return
        }
        #expect(session != token)
        #expect(
            try folder.store.signedIn(token, at: now) == nil
                && folder.store.signedIn(session, at: now)?.account.id == id)
        #expect(throws: AccountError.notSignedIn) {
            try folder.authenticator.enterCode(code, for: token, from: atHome, at: now)
        }
        let again = try password()
        #expect(try folder.authenticator.enterCode(code, for: again, from: atHome, at: now) == .refused)
        // A recovery code signs in instead, once.
        guard
            case .signedIn = try folder.authenticator.enterCode(
                codes[3].text.lowercased(), for: again, from: atHome, at: now)
        else {
            Issue.record("the recovery code is not accepted")
            return
        }
        #expect(try folder.authenticator.enterCode(codes[3].text, for: password(), from: atHome, at: now) == .refused)
        #expect(try folder.store.recoveryCodesLeft(of: id) == 9)
        #expect(try folder.kinds().prefix(4) == [.signInFailed, .signedIn, .recoveryCodeUsed, .signInFailed])
    }

    @Test("whatever the order of tries and whatever the clock does, no code works twice", arguments: 0..<10)
    func codesOnce(seed: UInt64) throws {
        let folder = try AccountFolder()
        let id = try #require(try folder.account("ben", []).account)
        let (secret, _) = try folder.secondFactor(of: "ben")
        let other = try folder.another()
        defer { other.close() }
        var random = SplitMix(seed: seed)
        var accepted = [TOTPSecret.step(at: noon): 1]
        var now: Int64 = 60
        for _ in 0..<300 {
            now += Int64.random(in: -100...130, using: &random)
            let step = TOTPSecret.step(at: after(now)) + Int64.random(in: -2...2, using: &random)
            let store = Bool.random(using: &random) ? folder.store : other
            let isRight = try store.write {
                try SecondFactorRecords.use(secret.code(ofStep: step), secret, of: id, at: after(now), $0)
            }
            if isRight { accepted[step, default: 0] += 1 }
        }
        #expect(accepted.count > 20)
        #expect(accepted.values.allSatisfy { $0 == 1 })
    }

    @Test(
        "a stranger's wrong passwords cost a person with a second factor no more than one without; wrong codes wait apart from passwords"
    )
    func secondFactorUnderAttack() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        let (secret, _) = try folder.secondFactor(of: "ben")
        func password(at now: Timestamp) throws -> SecretToken {
            guard case .needsCode(let token) = try folder.signIn("ben", from: nil, at: now) else {
                throw Diagnostic("no code is expected")
            }
            return token
        }
        func enter(_ code: String, at now: Timestamp) throws -> SignInResult {
            try folder.authenticator.enterCode(code, for: password(at: now), from: SignInSource(address: nil), at: now)
        }
        for _ in 0..<3 {
            #expect(try folder.signIn("ben", password: "wrong password", from: nil, at: after(300)) == .refused)
        }
        // One second later, a mistyped code costs nothing, and the next one is right.
        #expect(try enter("000000", at: after(301)) == .refused)
        guard case .signedIn = try enter(secret.code(ofStep: TOTPSecret.step(at: after(301))), at: after(301)) else {
            Issue.record("the right code is not accepted")
            return
        }
        for _ in 0..<3 { #expect(try enter("000000", at: after(400)) == .refused) }
        #expect(
            try enter(secret.code(ofStep: TOTPSecret.step(at: after(400))), at: after(400)) == .slowDown(seconds: 30))
        guard case .signedIn = try enter(secret.code(ofStep: TOTPSecret.step(at: after(430))), at: after(430)) else {
            Issue.record("the right code is not accepted after the wait")
            return
        }
    }

    @Test("five wrong codes, and the password must be shown again")
    func wrongCodes() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        let (secret, _) = try folder.secondFactor(of: "ben")
        guard case .needsCode(let token) = try folder.signIn("ben", at: after(300)) else {
            Issue.record("no code is asked for")
            return
        }
        for number in 0..<5 {
            let source = SignInSource(address: IPAddress("10.0.0.\(number)"))
            #expect(try folder.authenticator.enterCode("000000", for: token, from: source, at: after(300)) == .refused)
        }
        let code = secret.code(ofStep: TOTPSecret.step(at: after(300)))
        #expect(throws: AccountError.notSignedIn) {
            try folder.authenticator.enterCode(code, for: token, from: atHome, at: after(300))
        }
    }

    @Test("the second factor is set up with a right code, removed by its owner or an administrator, and never twice")
    func settingUp() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try folder.account("ben", [])
        let id = try #require(ben.account)
        let other = try folder.token("ben")
        let found = try #require(try folder.store.signedIn(folder.token("ben"), at: noon))
        let store = folder.store
        #expect(throws: AccountError.secondFactor(isOn: false)) {
            try store.confirmSecondFactor("000000", in: found.session, from: home, at: noon)
        }
        let replaced = try store.beginSecondFactor(of: id), secret = try store.beginSecondFactor(of: id)
        let step = TOTPSecret.step(at: noon)
        #expect(throws: AccountError.wrongCode) {
            try store.confirmSecondFactor(replaced.code(ofStep: step), in: found.session, from: home, at: noon)
        }
        // Until then it is not required.
        #expect(try store.account(id)?.hasSecondFactor == false)
        _ = try store.confirmSecondFactor(secret.code(ofStep: step), in: found.session, from: home, at: noon)
        #expect(try store.sessions(of: id, at: noon).map(\.id) == [found.session.id])
        #expect(try store.signedIn(other, at: noon) == nil)
        #expect(throws: AccountError.secondFactor(isOn: true)) { try store.beginSecondFactor(of: id) }
        try store.removeSecondFactor(of: id, by: ben, at: noon)
        #expect(throws: AccountError.secondFactor(isOn: false)) {
            try store.removeSecondFactor(of: id, by: ada, at: noon)
        }
        #expect(try store.sessions(of: id, at: noon).count == 1 && store.recoveryCodesLeft(of: id) == 0)
        _ = try folder.secondFactor(of: "ben", at: after(60))
        try store.removeSecondFactor(of: id, by: ada, at: after(60))
        #expect(try store.sessions(of: id, at: after(60)).isEmpty)
    }

    @Test("a password is changed with the old one; all sessions end, and links that reset it")
    func changePassword() throws {
        let folder = try AccountFolder()
        let id = try #require(try folder.account("ben", []).account)
        let (one, other) = (try folder.token("ben"), try folder.token("ben"))
        let link = try folder.store.offerNewPassword(of: id, by: .terminal, at: noon)
        let new = "another quiet harbour"
        func change(_ old: String, _ new: String) throws -> SignInResult {
            try folder.authenticator.changePassword(one, from: old, to: new, source: atHome, at: noon)
        }
        #expect(throws: AccountError.unfitPassword(.common)) { try change(goodPassword, "password12345") }
        #expect(try change("wrong password", new) == .refused)
        guard case .signedIn(let after) = try change(goodPassword, new) else {
            Issue.record("the password is not changed")
            return
        }
        #expect(try folder.store.signedIn(one, at: noon) == nil && folder.store.signedIn(other, at: noon) == nil)
        #expect(
            try folder.store.sessions(of: id, at: noon).map(\.id) == [
                folder.store.signedIn(after, at: noon)?.session.id
            ])
        #expect(throws: AccountError.notSignedIn) { try change(new, goodPassword) }
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: noon)
        }
        #expect(try folder.signIn("ben") == .refused)
    }

    @Test("a fresh sign-in takes the password, and the code where there is one, and gives another token")
    func proveAgain() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        let token = try folder.token("ben")
        let now = after(600)
        #expect(try folder.store.signedIn(token, at: now)?.session.isFresh(at: now) == false)
        #expect(
            try folder.authenticator.proveAgain(token, password: "wrong password", code: nil, from: atHome, at: now)
                == .refused)
        guard
            case .signedIn(let fresh) = try folder.authenticator.proveAgain(
                token, password: goodPassword, code: nil, from: atHome, at: now)
        else {
            Issue.record("the password is not accepted")
            return
        }
        let session = try #require(try folder.store.signedIn(fresh, at: now)).session
        #expect(session.isFresh(at: now) && session.startedAt == noon)
        #expect(try folder.store.signedIn(token, at: now) == nil)
        let secret = try folder.store.beginSecondFactor(of: session.account)
        let step = TOTPSecret.step(at: now)
        _ = try folder.store.confirmSecondFactor(secret.code(ofStep: step), in: session, from: home, at: now)
        #expect(
            try folder.authenticator.proveAgain(fresh, password: goodPassword, code: nil, from: atHome, at: now)
                == .refused)
        let code = secret.code(ofStep: step + 1)
        #expect(
            try folder.authenticator.proveAgain(fresh, password: "wrong password", code: code, from: atHome, at: now)
                == .refused)
        guard
            case .signedIn = try folder.authenticator.proveAgain(
                fresh, password: goodPassword, code: code, from: atHome, at: now)
        else {
            Issue.record("the code is not accepted")
            return
        }
    }

    @Test("a password that became disabled, or was changed, while it was checked signs nobody in")
    func changedMeanwhile() throws {
        let folder = try AccountFolder()
        let id = try #require(try folder.account("ben", []).account)
        let checked = try #require(try folder.store.credential(name("ben"))).password
        let other = try quickHasher().hash("another quiet harbour", of: name("ben"), nil)
        let origin = SessionRecords.Origin(address: nil, agent: "")
        #expect(try folder.store.startSession(id, other, stronger: nil, from: origin, at: noon) == nil)
        try folder.store.disable(id, by: .terminal, at: noon)
        #expect(try folder.store.startSession(id, checked, stronger: nil, from: origin, at: noon) == nil)
        try folder.store.enable(id, by: .terminal, at: noon)
        #expect(try folder.store.startSession(id, checked, stronger: other, from: origin, at: noon) != nil)
        #expect(try folder.store.credential(name("ben"))?.password == other)
    }
}
