import Base
import Cryptography
import Glibc

@testable import Simulators

/// The clock of every test that needs no other.
let noon = Timestamp(epochSeconds: 1_796_000_000)

let someToken = String(repeating: "ab", count: 32)

/// A key that simulators trust, and tokens signed with it.
struct Provider {
    let key = SigningKey.generate()
    var keyID = "ABC123DEFG"
    var teamID = "DEF123GHIJ"

    var trusted: TrustedKey { TrustedKey(keyID: keyID, teamID: teamID, key: key.verificationKey) }

    /// - Parameter written: the claim `iat` as it is in the JSON; nil for a number.
    func token(
        issuedAt: Int64 = noon.epochSeconds, written: String? = nil, algorithm: String = "ES256", keyID: String? = nil,
        teamID: String? = nil
    ) -> String {
        let header = #"{"alg":"\#(algorithm)","kid":"\#(keyID ?? self.keyID)"}"#
        let claims = #"{"iss":"\#(teamID ?? self.teamID)","iat":\#(written ?? String(issuedAt))}"#
        let signed = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        return signed + "." + base64URL(key.sign(Array(signed.utf8)))
    }
}

func base64URL(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        count += 8
        while count >= 6 {
            count -= 6
            text.append(digits[Int(bits >> UInt32(count)) & 63])
        }
    }
    if count > 0 { text.append(digits[Int(bits << UInt32(6 - count)) & 63]) }
    return text
}

/// A push as a sender would write it, valid until a test changes it.
struct Push {
    var headers: [(HeaderName, String)]
    var payload = #"{"aps":{"alert":"Hello"}}"#

    init(authorization: String?, token: String = someToken) {
        headers = [
            (.method, "POST"), (.path, "/3/device/\(token)"), (.topic, "com.example.shop"), (.pushType, "alert"),
            (.id, "0b7a1c52-88f2-4b0e-9d1c-2f3a4b5c6d7e"), (.priority, "10"), (.expiration, "0"),
        ]
        if let authorization { headers.append((.authorization, authorization)) }
    }

    subscript(name: HeaderName) -> String? {
        get { headers.last { $0.0 == name }?.1 }
        set {
            headers.removeAll { $0.0 == name }
            if let newValue { headers.append((name, newValue)) }
        }
    }

    var request: PushRequest {
        let request = PushRequest()
        request.begin(streamID: 1)
        for (name, value) in headers { withBytes(of: value) { request.add(name, $0) } }
        withBytes(of: payload) { request.addPayload($0) }
        return request
    }
}

func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    Array(text.utf8).withUnsafeBufferPointer(body)
}

/// A folder below /tmp that is removed with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/volley-simulator-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit { run("rm -rf '\(path)'") }

    func write(_ text: String, to name: String) -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = withBytes(of: text) { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        return file
    }
}

/// Runs a shell command; returns its output, both streams together, and its exit code.
@discardableResult
func run(_ command: String) -> (output: String, exitCode: Int32) {
    guard let stream = popen("{ \(command) ; } 2>&1", "r") else { return ("", -1) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = fread(&buffer, 1, buffer.count, stream)
        if count == 0 { break }
        bytes += buffer[..<count]
    }
    return (String(decoding: bytes, as: UTF8.self), pclose(stream) >> 8 & 0xFF)
}

func isInstalled(_ program: String) -> Bool { run("command -v \(program)").exitCode == 0 }
