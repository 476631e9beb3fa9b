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
