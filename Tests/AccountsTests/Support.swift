import Base
import Cryptography
import Foundation
import Testing

@testable import Accounts

let noon = Timestamp(epochSeconds: 1_796_040_000)
let home = IPAddress("192.0.2.1")
let atHome = SignInSource(address: home)
let goodPassword = "quiet harbour lantern"

/// A time some seconds after noon.
func after(_ seconds: Int64) -> Timestamp { noon.adding(seconds: Double(seconds)) }

func name(_ text: String) throws -> AccountName { try AccountName(text) }

/// Hashes as the real one does, in a thousandth of the time.
func quickHasher(mostWaiting: Int = 32) throws -> PasswordHasher {
    PasswordHasher(try #require(Scrypt(costBits: 4, blockSize: 8, parallelism: 1)), mostWaiting: mostWaiting)
}

/// An empty folder, removed with this value, and the accounts in it.
final class AccountFolder: Sendable {
    let path: String
    let store: AccountStore
    let authenticator: Authenticator

    init() throws {
        path =
            FileManager.default.temporaryDirectory.appendingPathComponent("volley-accounts-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        store = try AccountStore(folder: path)
        authenticator = Authenticator(store, try quickHasher())
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    var file: String { path + "/" + AccountStore.fileName }

    /// Another store on the same file, as another process has it.
    func another() throws -> AccountStore { try AccountStore(folder: path) }

    /// The first administrator, after accepting the invitation.
    func administrator(_ text: String = "root.admin") throws -> Actor {
        let link = try store.inviteFirstAdministrator(name(text), DisplayName("Ada"), at: noon)
        return Actor(try authenticator.accept(link.token, password: goodPassword, from: nil, at: noon), address: home)
    }

    /// An account that the terminal made.
    func account(_ text: String, _ grants: Set<RoleGrant>) throws -> Actor {
        let link = try store.invite(name(text), DisplayName("Some One"), grants, by: .terminal, at: noon)
        return Actor(try authenticator.accept(link.token, password: goodPassword, from: nil, at: noon), address: home)
    }

    /// Signs in with the password that all accounts here have.
    func signIn(
        _ text: String, password: String = goodPassword, from address: IPAddress? = home, at now: Timestamp = noon
    ) throws
        -> SignInResult
    {
        try authenticator.signIn(
            SignInAttempt(name: text, password: password, source: SignInSource(address: address), agent: "a browser"),
            at: now)
    }

    /// The token of a person that signs in without a second factor.
    func token(_ text: String, from address: IPAddress? = home, at now: Timestamp = noon) throws -> SecretToken {
        guard case .signedIn(let token) = try signIn(text, from: address, at: now) else {
            throw Diagnostic("not signed in")
        }
        return token
    }

    /// Sets a second factor up, and returns its secret, with the recovery codes.
    func secondFactor(of text: String, at now: Timestamp = noon) throws -> (secret: TOTPSecret, codes: [RecoveryCode]) {
        let found = try #require(try store.signedIn(token(text, at: now), at: now))
        let secret = try store.beginSecondFactor(of: found.account.id)
        let code = secret.code(ofStep: TOTPSecret.step(at: now))
        return (secret, try store.confirmSecondFactor(code, in: found.session, from: home, at: now))
    }

    func kinds() throws -> [ActivityKind.Name] { try store.activities(count: 500).activities.map(\.kind.name) }
}

/// A call's message about the file.
func diagnostic(_ body: () throws -> Void) -> Diagnostic? {
    do {
        try body()
        return nil
    } catch { return error as? Diagnostic }
}
