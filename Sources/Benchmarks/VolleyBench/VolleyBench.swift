import BareCurl
import Base
import Cryptography
import Delivery
import Glibc

/// `volley-bench pipeline [RECIPIENTS]`: what a push costs around the transport; a few seconds.
///
/// `make bench`: Volley beside other tools, all measured in the same run on the same machine. Prints Markdown for docs/performance.md.
@main
struct VolleyBench {
    static func main() {
        do {
            try measure()
        } catch {
            print("volley-bench: \(error)")
            exit(1)
        }
    }

    private static func measure() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "bare-curl" {
            // The child process of the measurement below, so that its time and memory are its own.
            arguments.removeFirst()
            let key = try SigningKey(file: arguments[2])
            let accepted = bare_curl_multi(
                arguments[0], arguments[1], bearer(key), "com.example.shop", SenderBenchmark.payload, Int(arguments[3]) ?? 0,
                arguments.count > 4 ? Int(arguments[4]) ?? 1000 : 1000)
            print(accepted)
            exit(accepted == Int(arguments[3]) ? 0 : 1)
        }
        if arguments.first == "deliver" {
            arguments.removeFirst()
            let accepted = try TransportBenchmark(
                host: "localhost", port: Int(arguments[0]) ?? 0, authorityFile: arguments[1], keyFile: arguments[2],
                pushes: Int(arguments[3]) ?? 0, transport: Transport(rawValue: arguments[4]) ?? .nghttp2
            ).run()
            print(accepted)
            exit(accepted == Int(arguments[3]) ? 0 : 1)
        }
        if arguments.first == "bearer" {
            print(bearer(try SigningKey(file: arguments[1])))
            exit(0)
        }
        if arguments.first == "pipeline" {
            return try PipelineBenchmark(recipients: arguments.dropFirst().first.flatMap { Int($0) } ?? 200_000).run()
        }
        let quick = arguments.contains("--quick")
        try SenderBenchmark(pushes: quick ? 20_000 : 200_000, repeats: quick ? 1 : 3).run()
    }

    /// A provider token for the simulator, as Volley itself makes them.
    private static func bearer(_ key: SigningKey) -> String {
        let header = base64URL(Array("{\"alg\":\"ES256\",\"kid\":\"SIMULATOR1\"}".utf8))
        let claims = base64URL(Array("{\"iss\":\"VOLLEYTEAM\",\"iat\":\(Timestamp.now().epochSeconds)}".utf8))
        return "\(header).\(claims).\(base64URL(key.sign(Array("\(header).\(claims)".utf8))))"
    }

    /// RFC 4648 section 5, without padding.
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
