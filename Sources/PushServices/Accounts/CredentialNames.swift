/// What sentences call an app's credentials and their parts: by their keys in volley.yaml, as that is where people look for them.
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
            signingKey: signingKey?.key ?? "key", keyID: signingKey?.keyID?.key ?? "id", issuer: signingKey?.issuer?.key ?? "issuer",
            certificate: certificate?.key ?? "certificate", all: credentials.map(\.key))
    }
}
