import Base
import Cryptography

/// Provider tokens for contestants that cannot make their own.
enum ProviderBearer {
    /// Makes a provider token for the simulator, as Volley itself does.
    static func make(_ key: SigningKey) -> String {
        let header = base64URL(Array("{\"alg\":\"ES256\",\"kid\":\"SIMULATOR1\"}".utf8))
        let claims = base64URL(Array("{\"iss\":\"VOLLEYTEAM\",\"iat\":\(Timestamp.now().epochSeconds)}".utf8))
        return "\(header).\(claims).\(base64URL(key.sign(Array("\(header).\(claims)".utf8))))"
    }

    /// Encodes in base64url without padding (RFC 4648 section 5).
    private static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * place)) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
