public import Base
public import Cryptography

/// A service account of Google, made by the simulator: its file is what a sender reads.
public struct SimulatedServiceAccount: Sendable {
    /// The project that the account may send messages of.
    public var project: String
    /// The account's name, the claim `iss` of its assertions.
    public var clientEmail: String
    /// The header `kid` of its assertions.
    public var keyID: String
    /// The key that signs them. A secret.
    public var key: RSASigningKey

    /// A new account with a new key.
    public static func generate(project: String) -> SimulatedServiceAccount {
        var random = SystemRandomNumberGenerator()
        let keyID = (0..<40).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
        return SimulatedServiceAccount(
            project: project, clientEmail: "volley@\(project).iam.gserviceaccount.com", keyID: keyID, key: .generate())
    }

    /// An account from its parts.
    public init(project: String, clientEmail: String, keyID: String, key: RSASigningKey) {
        self.project = project
        self.clientEmail = clientEmail
        self.keyID = keyID
        self.key = key
    }

    /// Reads the file of an account.
    /// - Throws: a `Mistake` that names the member that is missing, or says what is wrong with the
    ///   key.
    public init(json: String) throws(Mistake) {
        let file = try JSONValue(parsing: json)
        func member(_ name: String) throws(Mistake) -> String {
            guard let text = file[name]?.stringValue, !text.isEmpty else {
                throw Mistake("this is not the file of a service account: it has no \(name)")
            }
            return text
        }
        guard try member("type") == "service_account" else {
            throw Mistake("this is not the file of a service account, but of another type")
        }
        let pem = try member("private_key")
        let key: RSASigningKey
        do throws(Diagnostic) { key = try RSASigningKey(pem: pem) } catch {
            throw Mistake(error.message, remedy: error.remedy)
        }
        self.init(
            project: try member("project_id"), clientEmail: try member("client_email"),
            keyID: try member("private_key_id"), key: key)
    }

    /// The file of the account, as Google writes it. A secret.
    /// - Parameter tokenURI: where its assertions are exchanged for access tokens.
    public func json(tokenURI: String) -> String {
        var bytes: [UInt8] = []
        JSONValue.object(pairs: [
            ("type", .string("service_account")), ("project_id", .string(project)), ("private_key_id", .string(keyID)),
            ("private_key", .string(key.pem)), ("client_email", .string(clientEmail)), ("token_uri", .string(tokenURI)),
        ]).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }

    /// What a simulator must know of the account.
    public var trusted: TrustedServiceAccount {
        TrustedServiceAccount(project: project, clientEmail: clientEmail, keyID: keyID, key: key.verificationKey)
    }
}

/// An account that a simulator accepts assertions of.
public struct TrustedServiceAccount: Sendable {
    /// The project that it may send messages of.
    public var project: String
    /// The claim `iss`.
    public var clientEmail: String
    /// The header `kid`.
    public var keyID: String
    /// The public key that verifies the signature.
    public var key: RSAVerificationKey

    /// A trusted account.
    public init(project: String, clientEmail: String, keyID: String, key: RSAVerificationKey) {
        self.project = project
        self.clientEmail = clientEmail
        self.keyID = keyID
        self.key = key
    }
}

/// What only the simulator of FCM has.
public struct IssuerSettings: Sendable {
    /// The accounts from which assertions are accepted. Their projects are the ones that exist.
    public var accounts: [TrustedServiceAccount] = []
    /// How long an access token is valid.
    public var tokenSeconds = 3600
    /// The details of refusals.
    public var errorDetails = RefusalDetails.both
    /// How many messages a minute are taken before QUOTA_EXCEEDED; 0 for any number.
    public var messagesPerMinute = 0
    /// After how many messages an access token is revoked, as an administrator may do, and refused
    /// as UNAUTHENTICATED; 0 for never.
    public var messagesPerToken = 0
    /// After how many lists the text of lists is forgotten, where a service keeps it; 0 for never.
    public var listsPerTask = 0
    /// How many targets of lists are taken in a day.
    public var listTargetsPerDay = 2_000_000

    /// The settings of a simulator without an account.
    public init() {}
}

extension SimulatorConfiguration {
    /// Makes the simulator give out tokens for an account, too.
    public mutating func trust(_ account: TrustedServiceAccount) { issuer.accounts.append(account) }
}

/// The details of FCM's refusals. Google's vary, and may be absent.
public enum RefusalDetails: String, CaseIterable, Sendable {
    /// The word of FCM, and the field that is wrong if there is one.
    case both
    /// The word of FCM alone; the field if there is no such word.
    case one
    case none
}
