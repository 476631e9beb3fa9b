import Base
import Foundation
import Testing

@testable import Delivery

/// Answers that a proxy compressed.
@Suite("compressed answers")
struct GzipBodyTests {
    /// Made with Python's gzip and zlib: with the fixed code, with a code of its own, and stored,
    /// with a file's name.
    private static let fixed = "H4sIAAAAAAACA6tWKkpNLM7PU7JSckpMcUkty0xODcnPTs1TqgUA6LzZFxsAAAA="
    private static let own =
        "H4sIAAAAAAACAyWRS24EMQhEr4L6BOZjbM9tshhlFUWaLKO5e151VqabAh7F7/V8vb5f1+P3+nr+/Hx8Pq/HNcyt7Ji3xbRsq2Ndtt18kAveKr"
        + "IoDhI0MXn3sYxCTzW6Kt5dNuPYXG2NrnkX34v/m/xBd1p9KfRBB3dauXp60NxTU0rjpua2AFokCyLfJQYIY4jCRRzjWOQoixoOGRXRipb+bWUP"
        + "ulRF0l/QkCf9suicmpGLabmZmweCGrCUqCrhq4K0GuZa2lZrzME+07VwamMyNrXzXIoO/3qQpcpxk4qe1PaiS2/6rTFlDhWLmbYmc9eCYB1Ytq"
        + "zfAd8u3aJh3hv6oz1QEEGJm2x59rhvJbNG3HENGdwosBmxu+rcIxWXfPSWpb7lbvxfOuV5TNkfS5eIcx/lvk/WvA+kq+XRAcvbr/f7Dx/aYLpV"
        + "AgAA"
    private static let stored = "H4sICAAAAAAA/2Fuc3dlci5qc29uAAEbAOT/eyJyZWFzb24iOiJCYWREZXZpY2VUb2tlbiJ96LzZFxsAAAA="

    private static func bytes(_ base64: String) -> [UInt8]? { Data(base64Encoded: base64).map { [UInt8]($0) } }

    private func plain(_ base64: String, limit: Int = 65_536) throws -> String {
        String(decoding: GzipBody.plain(try #require(Self.bytes(base64)), limit: limit), as: UTF8.self)
    }

    @Test("are read, however they were compressed")
    func read() throws {
        #expect(try plain(Self.fixed) == #"{"reason":"BadDeviceToken"}"#)
        #expect(try plain(Self.stored) == #"{"reason":"BadDeviceToken"}"#)
        let message = (0..<120).map { String($0 * $0) }.joined(separator: " ")
        #expect(try plain(Self.own) == #"{"error":{"message":"\#(message)"}}"#)
    }

    @Test("stay as they are if they are cut off, larger than allowed, or something else")
    func unreadable() throws {
        let whole = try #require(Self.bytes(Self.own))
        for count in [1, 11, 18, 19, whole.count / 2, whole.count - 12] {
            #expect(GzipBody.plain(Array(whole.prefix(count)), limit: 65_536) == Array(whole.prefix(count)), "\(count)")
        }
        #expect(GzipBody.plain(whole, limit: 100) == whole)
        let text = Array(#"{"reason":"Unregistered"}"#.utf8)
        #expect(GzipBody.plain(text, limit: 65_536) == text && GzipBody.plain([], limit: 10).isEmpty)
    }

    @Test("no bytes make the reader fail")
    func fuzzed() throws {
        var random = SplitMix(seed: 7)
        for source in [Self.fixed, Self.own, Self.stored] {
            let whole = try #require(Self.bytes(source))
            for _ in 0..<2000 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
                }
                #expect(GzipBody.plain(bytes, limit: 10_000).count <= max(10_300, bytes.count))
            }
        }
    }
}
