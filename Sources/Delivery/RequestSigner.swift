import Base
import Cryptography
public import PushServices

/// Signs each request of a run.
public struct RequestSigner: Sendable {
    private let signature: RequestSignature
    private let secret: AppSecret

    /// Signs with a secret, as a service requires.
    public init(_ signature: RequestSignature, _ secret: AppSecret) {
        self.signature = signature
        self.secret = secret
    }

    /// The header lines of a request that leaves now; each is for one request.
    func lines(at now: Timestamp) -> [String] {
        let digits = Array("0123456789abcdef".utf8)
        let nonce = String(
            decoding: (0..<signature.nonceDigits).map { _ in digits[Int.random(in: 0...15)] }, as: UTF8.self)
        let time = String(now.epochSeconds)
        return [
            "\(signature.account): \(secret.topic)", "\(signature.nonce): \(nonce)", "\(signature.timestamp): \(time)",
            "\(signature.signature): \(SHA1.hex(of: secret.secret + nonce + time))",
        ]
    }
}

extension Credentials {
    /// What signs each request; nil where requests are not signed.
    var signer: RequestSigner? { if case .signed(let signer) = self { signer } else { nil } }
}
