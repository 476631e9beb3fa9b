public import Base

/// What an app of volley.yaml says of its account with a service: its keys beside those that all apps have.
public struct AccountForm: Sendable {
    /// What the service calls an app.
    public let topic: AccountField
    /// Which of the service's servers an app talks to.
    public let environments: EnvironmentForm
    /// By which of them an app may show who it is; it has one.
    public let credentials: [CredentialForm]

    /// The keys below an app, in the order in which they are written.
    public var keys: [String] { [topic.key, EnvironmentForm.key] + credentials.map(\.key) }

    /// How long signed tokens are good for; nil for a service that takes none.
    public var signedToken: SignedTokenFacts? {
        credentials.lazy.compactMap { if case .signingKey(let facts) = $0.kind { facts } else { nil } }.first
    }
}

/// A text that volley.yaml holds.
public struct AccountField: Sendable {
    /// What stands in it.
    public enum Kind: Hashable, Sendable {
        /// A name of some characters; `pattern` is a regular expression, for editors.
        case name(pattern: String)
        /// The path of a file with a key or a certificate.
        case file
        /// Capital letters and digits: which key it is.
        case keyID(length: Int)
        /// Capital letters and digits: who signs.
        case issuer(length: Int)
        /// The name of an environment variable with a passphrase.
        case passphraseVariable
    }

    /// Its key.
    public let key: String
    /// What stands in it.
    public let kind: Kind
    /// For editors: whole sentences.
    public let description: String
    /// A value.
    public let example: String
    /// What other tools call it.
    public let otherNames: [String]
    /// Where people find it: a whole sentence without its end.
    public let source: String
    /// How a message that it is missing goes on behind the option of a command: "the ten characters that …".
    public let whatToAdd: String
    /// What else is wrong with a text; `shown` is the text as a message shows it.
    public let flaw: @Sendable (_ text: String, _ shown: String) -> Mistake?

    /// A field.
    public init(
        _ key: String, _ kind: Kind, description: String, example: String, otherNames: [String] = [], source: String = "",
        whatToAdd: String = "", flaw: @escaping @Sendable (_ text: String, _ shown: String) -> Mistake? = { _, _ in nil }
    ) {
        self.key = key
        self.kind = kind
        self.description = description
        self.example = example
        self.otherNames = otherNames
        self.source = source
        self.whatToAdd = whatToAdd
        self.flaw = flaw
    }
}

/// How an app shows who it is.
public struct CredentialForm: Sendable {
    /// What is done with it. Those of other services follow with them.
    public enum Kind: Hashable, Sendable {
        /// A P-256 key, which signs tokens (JWT, ES256).
        case signingKey(SignedTokenFacts)
        /// A certificate that TLS shows.
        case clientCertificate
    }

    /// Its key below an app.
    public let key: String
    /// What is done with it.
    public let kind: Kind
    /// For editors: whole sentences.
    public let description: String
    /// Key and value as an app has them.
    public let example: String
    /// The same in short.
    public let shortExample: String
    /// Where it comes from: "from …".
    public let origin: String
    /// The keys below it.
    public let fields: [AccountField]
    /// What other tools call it, and parts of it.
    public let otherNames: [String]
    /// What its file is, for people who named another one.
    public let file: KeyFileFacts?
}

/// What a service's files of keys are.
public struct KeyFileFacts: Hashable, Sendable {
    /// "the .p8 file that …"
    public let description: String
    /// What their names begin with, before the key's id.
    public let namePrefix: String
    /// What they end with.
    public let nameSuffix: String
    /// Capital letters and digits of an id.
    public let idLength: Int

    /// The name of a key's file; without an id that of any.
    public func name(id: String = "") -> String { (id.isEmpty ? String(namePrefix.dropLast()) : namePrefix + id) + nameSuffix }

    /// The id in a file's name; nil where none stands in it.
    public func id(inName file: String) -> String? {
        let name = file.split(separator: "/").last ?? ""
        guard name.hasPrefix(namePrefix), name.hasSuffix(nameSuffix) else { return nil }
        let id = name.dropFirst(namePrefix.count).dropLast(nameSuffix.count)
        return id.utf8.count == idLength && id.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) } ? String(id) : nil
    }
}
