import Base
import Testing

@testable import Simulators

private func verdict(_ bytes: [UInt8]) -> JSONSyntax.Verdict {
    bytes.withUnsafeBufferPointer { JSONSyntax.verdict(on: $0) }
}
private func verdict(_ text: String) -> JSONSyntax.Verdict { verdict(Array(text.utf8)) }

@Suite("The payload scanner")
struct JSONSyntaxTests {
    @Test(
        "finds aps among the members of the outermost object",
        arguments: [
            (#"{"aps":{}}"#, true), (#" { "a" : [1, {"aps":{}}] , "aps" : { "x" : null } } "#, true),
            (#"{"aps":[]}"#, false),
            (#"{}"#, false),
            (#"{"apx":{}}"#, false), (#"{"a":{"aps":{}}}"#, false), (#"{"aps":{},"b":true}"#, true),
        ])
    func aps(_ text: String, _ hasAps: Bool) { #expect(verdict(text) == .object(hasAps: hasAps)) }

    @Test(
        "refuses what is not an object in valid JSON",
        arguments: [
            "", " ", "1", "[]", #""aps""#, "{", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,}"#, #"{"a":1}x"#,
            #"{"a":01}"#, #"{"a":1.}"#,
            #"{"a":.5}"#,
            #"{"a":1e}"#, #"{"a":-}"#, #"{"a":+1}"#, #"{"a":tru}"#, #"{"a":True}"#, #"{'a':1}"#, #"{"a":"\x"}"#,
            #"{"a":"\u12g4"}"#,
            #"{"a":"\u12"}"#,
            "{\"a\":\"\n\"}", #"{"a":[1 2]}"#, #"{"a":[1,]}"#, #"{"a":1 "b":2}"#, #"{"a":"}"#, #"{"a":nul"#,
        ])
    func invalid(_ text: String) { #expect(verdict(text) == .invalid) }

    @Test(
        "refuses text that is not UTF-8",
        arguments: [
            [0x80], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xC3],
            [0xE2, 0x82],
        ] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) {
        #expect(verdict(Array(#"{"aps":{},"a":""#.utf8) + bytes + Array(#""}"#.utf8)) == .invalid)
    }

    @Test("refuses nesting without end instead of overflowing the stack") func deep() {
        #expect(verdict(#"{"a":"# + String(repeating: "[", count: 100_000)) == .invalid)
    }

    /// The slow parser is the specification: both give the same result for every variation of a
    /// payload.
    @Test("agrees with the parser of Base on three thousand spoiled payloads") func agreement() {
        let payload = Array(
            #"{"aps":{"alert":{"title":"Grüße 🎉","body":"a\u00e9\"b"},"badge":-12.5e+3},"l":[true,false,null,{"x":0}]}"#
                .utf8)
        let spoilers = Array(#"{}[]",:\x01eE.+-u tnf"#.utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xE2, 0xF0]
        var random = Seeded(state: 20_261_121)
        var valid = 0
        for _ in 0..<3_000 {
            var bytes = payload
            for _ in 0...Int.random(in: 0...1, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = spoilers.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: place)
                default: bytes.insert(spoilers.randomElement(using: &random) ?? 0, at: place)
                }
            }
            let parsed = try? JSONValue(parsing: bytes)
            let isObject = if case .object = parsed { true } else { false }
            if isObject { valid += 1 }
            #expect((verdict(bytes) != .invalid) == isObject, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(valid > 150)
    }
}

/// A generator with a seed (SplitMix64), so that a failure can be repeated.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
