public import Base

/// The keys of an app in volley.yaml that describe its account with a service, in addition to those
/// that all apps have.
public struct AccountForm: Sendable {
    /// What the service calls an app.
    public let topic: AccountField
    /// Which of the service's servers an app talks to.
    public let environments: EnvironmentForm
    /// The ways in which an app may authenticate; it uses one of them.
    public let credentials: [CredentialForm]
    /// What an app may have differently from others: keys that are true or false, and false if they
    /// are not there.
    public let switches: [AccountSwitch]
    /// What the service is asked about for statistics, in addition to the topic: a key that an app
    /// may have; nil where the topic is enough. It is no part of the account, and no run keeps it.
    public let countedApp: AccountField?

    /// The keys below an app, in the order in which they are written.
    public var keys: [String] {
        [topic.key, EnvironmentForm.key] + (environments.regions.isEmpty ? [] : [EnvironmentForm.regionKey])
            + credentials.flatMap { $0.fieldsBeside.map(\.key) + [$0.key] } + switches.map(\.key)
            + (countedApp.map { [$0.key] } ?? [])
    }

    /// Lifetimes of signed tokens; nil for a service that takes none.
    public var signedToken: SignedTokenFacts? {
        credentials.lazy.compactMap { if case .signingKey(let facts) = $0.kind { facts } else { nil } }.first
    }

    /// The key that signs tokens; nil for a service that takes none.
    public var signingKey: CredentialForm? {
        credentials.first { if case .signingKey = $0.kind { true } else { false } }
    }

    /// How tokens are fetched; nil for a service that gives out none.
    public var tokenExchange: TokenExchange? {
        credentials.lazy.compactMap { if case .fetchedToken(let exchange) = $0.kind { exchange } else { nil } }.first
    }

    /// The client certificate; nil for a service that takes none.
    public var certificate: CredentialForm? {
        credentials.first { if case .clientCertificate = $0.kind { true } else { false } }
    }

    /// The credential with this key; nil if the service takes none of that name.
    public func credential(_ key: String) -> CredentialForm? { credentials.first { $0.key == key } }

    /// The parts of an account.
    package init(
        topic: AccountField, environments: EnvironmentForm, credentials: [CredentialForm],
        switches: [AccountSwitch] = [],
        countedApp: AccountField? = nil
    ) {
        self.topic = topic
        self.environments = environments
        self.credentials = credentials
        self.switches = switches
        self.countedApp = countedApp
    }
}

/// A key of an app in volley.yaml that is true or false, and changes how the service is used
/// (`PushService.switched`).
public struct AccountSwitch: Sendable {
    /// Its key.
    public let key: String
    /// For editors: what it does if it is true, in whole sentences.
    public let description: String

    /// A switch.
    package init(_ key: String, description: String) {
        self.key = key
        self.description = description
    }
}

/// A text in volley.yaml.
public struct AccountField: Sendable {
    /// What it contains.
    public enum Kind: Hashable, Sendable {
        /// A name of some characters; `pattern` is a regular expression, for editors.
        case name(pattern: String)
        /// The path of a file with a key or a certificate.
        case file
        /// Capital letters and digits that identify the key.
        case keyID(length: Int)
        /// Capital letters and digits that identify the signer.
        case issuer(length: Int)
        /// The name of an environment variable with a passphrase.
        case passphraseVariable
        /// The name of an environment variable that holds what a file would hold.
        case variable
    }

    /// Its key.
    public let key: String
    /// What it is called in a sentence: the key, as words.
    public var noun: String { words(key) }
    /// What it contains.
    public let kind: Kind
    /// For editors, in whole sentences.
    public let description: String
    /// An example of a value.
    public let example: String
    /// What other tools call it.
    public let otherNames: [String]
    /// Where people find the value: a sentence without its full stop.
    public let source: String
    /// What it is, as a remedy continues after the option to add: "the ten characters that …".
    /// Blank where no remedy needs it.
    public let whatToAdd: String
    /// Whether it is next to the credential that it belongs to, rather than below it: a public name
    /// that the service gives an app together with a secret.
    public let isBeside: Bool
    /// What else is wrong with a text; `shown` is the text as a message shows it.
    public let flaw: @Sendable (_ text: String, _ shown: String) -> Mistake?

    /// A field.
    public init(
        _ key: String, _ kind: Kind, description: String, example: String, otherNames: [String] = [],
        source: String = "",
        whatToAdd: String = "", isBeside: Bool = false,
        flaw: @escaping @Sendable (_ text: String, _ shown: String) -> Mistake? = { _, _ in nil }
    ) {
        self.key = key
        self.kind = kind
        self.description = description
        self.example = example
        self.otherNames = otherNames
        self.source = source
        self.whatToAdd = whatToAdd
        self.isBeside = isBeside
        self.flaw = flaw
    }
}

/// A way for an app to authenticate.
public struct CredentialForm: Sendable {
    /// How the credential is used.
    public enum Kind: Sendable {
        /// A P-256 key, which signs tokens (JWT, ES256).
        case signingKey(SignedTokenFacts)
        /// A certificate for TLS.
        case clientCertificate
        /// The file of an account. Its key signs for tokens that the service's own server gives
        /// out, or a secret that is proved there.
        case fetchedToken(TokenExchange)
        /// A secret that each request shows together with the account's topic:
        /// `authorization: Basic …` (RFC 7617).
        case basic
        /// A secret with which each request is signed.
        case signedRequest(RequestSignature)

        /// Whether the credential is a text that the service gives out once: not a file that the
        /// service makes.
        public var isPlainSecret: Bool {
            switch self {
            case .basic, .signedRequest: true
            case .fetchedToken(let exchange): if case .digest = exchange.proof { true } else { false }
            case .signingKey, .clientCertificate: false
            }
        }
    }

    /// Its key below an app. In run files it is a member of the settings, so no other setting may
    /// have this name.
    public let key: String
    /// What it is called in a sentence: the key, as words.
    public var noun: String { words(key) }
    /// How the credential is used.
    public let kind: Kind
    /// For editors, in whole sentences.
    public let description: String
    /// Key and value as they appear in an app.
    public let example: String
    /// The same, shortened.
    public let shortExample: String
    /// Where it comes from: "from …".
    public let origin: String
    /// The keys below it.
    public let fields: [AccountField]
    /// The keys of fields that exclude one another: the places where the secret may be. An app has
    /// exactly one of them. Empty if there is one place only.
    public let alternatives: [String]
    /// What other tools call it and its parts.
    public let otherNames: [String]
    /// What its file is, for people that named a different one.
    public let file: KeyFileFacts?

    /// A form.
    package init(
        key: String, kind: Kind, description: String, example: String, shortExample: String, origin: String,
        fields: [AccountField],
        alternatives: [String] = [], otherNames: [String] = [], file: KeyFileFacts? = nil
    ) {
        self.key = key
        self.kind = kind
        self.description = description
        self.example = example
        self.shortExample = shortExample
        self.origin = origin
        self.fields = fields
        self.alternatives = alternatives
        self.otherNames = otherNames
        self.file = file
    }

    /// Whether an app must have this field, whatever else it has.
    public func requires(_ field: AccountField) -> Bool {
        field.kind != .passphraseVariable && !alternatives.contains(field.key)
    }

    /// Whether these fields are all that an app must have: those that are required, and one of the
    /// alternatives.
    public func isComplete(_ keys: some Collection<String>) -> Bool {
        fields.allSatisfy { keys.contains($0.key) || !requires($0) }
            && (alternatives.isEmpty || alternatives.count(where: keys.contains) == 1)
    }

    /// The fields below its key, and those next to it.
    public var fieldsBelow: [AccountField] { fields.filter { !$0.isBeside } }
    /// See `fieldsBelow`.
    public var fieldsBeside: [AccountField] { fields.filter(\.isBeside) }

    /// The fields that name files.
    public var files: [AccountField] { fields.filter { $0.kind == .file } }

    /// The field that names the variable with the whole secret; nil for a form that takes it from a
    /// file only.
    public var variable: AccountField? { fields.first { $0.kind == .variable } }

    /// The field that identifies the key; nil for a certificate.
    public var keyID: AccountField? { fields.first { if case .keyID = $0.kind { true } else { false } } }

    /// The field that identifies the signer; nil for a certificate.
    public var issuer: AccountField? { fields.first { if case .issuer = $0.kind { true } else { false } } }

    /// The field that names the variable with a passphrase; nil for a key.
    public var passphraseVariable: AccountField? { fields.first { $0.kind == .passphraseVariable } }
}

/// A key as words of a sentence: "service account".
private func words(_ key: String) -> String { key.replacing("_", with: " ") }

/// Facts about a service's key files.
public struct KeyFileFacts: Hashable, Sendable {
    /// "the .p8 file that …"
    public let description: String
    /// The start of their names, before the key's id.
    public let namePrefix: String
    /// The end of their names.
    public let nameSuffix: String
    /// The length of an id: capital letters and digits.
    public let idLength: Int

    /// The name of a key's file; without an id, the name that all such files share.
    public func name(id: String = "") -> String {
        (id.isEmpty ? String(namePrefix.dropLast()) : namePrefix + id) + nameSuffix
    }

    /// The id in a file's name; nil if the name has none.
    public func id(inName file: String) -> String? {
        let name = file.split(separator: "/").last ?? ""
        guard name.hasPrefix(namePrefix), name.hasSuffix(nameSuffix) else { return nil }
        let id = name.dropFirst(namePrefix.count).dropLast(nameSuffix.count)
        return id.utf8.count == idLength && id.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
            ? String(id) : nil
    }
}

/// What sentences call an app's credentials and their parts: by their keys in volley.yaml, as that
/// is where people look for them.
///
/// A service that has no such credential or part never gets to a sentence about it.
public struct CredentialNames: Hashable, Sendable {
    /// The key that signs.
    public let signingKey: String
    /// What identifies that key.
    public let keyID: String
    /// What identifies the signer.
    public let issuer: String
    /// The client certificate.
    public let certificate: String
    /// All credentials that the service takes, at least one.
    public let all: [String]

    /// What an app lacks that has no credentials: "neither key nor certificate".
    /// - Parameter worded: how a name is written.
    public func none(_ worded: (String) -> String = { $0 }) -> String {
        all.count == 1 ? "no \(all[0])" : "neither \(all.map(worded).joined(separator: " nor "))"
    }
}

extension AccountForm {
    /// What sentences call the credentials.
    public var names: CredentialNames {
        CredentialNames(
            signingKey: signingKey?.key ?? "key", keyID: signingKey?.keyID?.key ?? "id",
            issuer: signingKey?.issuer?.key ?? "issuer",
            certificate: certificate?.key ?? "certificate", all: credentials.map(\.key))
    }
}

/// How a service has each request signed: with a number that is used once, the time, and the hex
/// digits of SHA-1 over secret, number and time.
public struct RequestSignature: Sendable {
    /// The header with the app's public name, which is the account's topic.
    public let account: String
    /// The header with the number: random hex digits.
    public let nonce: String
    /// How many digits it has.
    public let nonceDigits: Int
    /// The header with the time, in whole seconds since 1970.
    public let timestamp: String
    /// The header with the signature: lower-case hex digits.
    public let signature: String

    /// The headers of a signature, in lower-case letters.
    public init(account: String, nonce: String, nonceDigits: Int, timestamp: String, signature: String) {
        self.account = account
        self.nonce = nonce
        self.nonceDigits = nonceDigits
        self.timestamp = timestamp
        self.signature = signature
    }
}
