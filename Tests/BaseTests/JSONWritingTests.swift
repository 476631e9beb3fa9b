import Base
import Testing

@Suite struct JSONWritingTests {
    @Test("only what RFC 8259 asks for is escaped")
    func escapes() {
        for code in UInt8.min...0x7F {
            let text = String(Unicode.Scalar(code))
            let expected: String
            switch code {
            case 0x0A: expected = #"\n"#
            case 0x0D: expected = #"\r"#
            case 0x09: expected = #"\t"#
            case 0x22: expected = #"\""#
            case 0x5C: expected = #"\\"#
            case 0..<0x20: expected = #"\u00"# + (code < 16 ? "0" : "") + String(code, radix: 16)
            default: expected = text
            }
            #expect(JSONValue.string(text).text == "\"\(expected)\"")
        }
        #expect(JSONValue.string("é\u{2028}\u{2029}😀").text == "\"é\u{2028}\u{2029}😀\"")
    }

    @Test("escapes at the start, the end and side by side lose nothing between them")
    func escapePlaces() {
        #expect(JSONValue.string("\"a\"\"bc\"").text == #""\"a\"\"bc\"""#)
        #expect(JSONValue.string("").text == "\"\"")
    }

    @Test(
        "numbers are written as JSON knows them",
        arguments: [
            (1.0, "1"), (-3.0, "-3"), (0.25, "0.25"), (1e14, "100000000000000"), (1e300, "1e+300"),
            (-1.5e-7, "-1.5e-07"),
            (.infinity, "null"), (.nan, "null"),
        ])
    func numbers(value: Double, expected: String) {
        #expect(JSONValue.double(value).text == expected)
    }

    @Test("an indented text has two spaces a level, and empty arrays and objects on one line")
    func indented() {
        let value = JSONValue.object(pairs: [
            ("a", .array([.integer(1), .object([]), .array([])])), ("b\"", .object(pairs: [("c", .null)])),
        ])
        #expect(
            value.indentedText == """
                {
                  "a": [
                    1,
                    {},
                    []
                  ],
                  "b\\"": {
                    "c": null
                  }
                }
                """)
    }

    @Test("writing appends and leaves what was there")
    func appends() {
        var bytes = Array("x=".utf8)
        JSONValue.array([.bool(true), .null]).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "x=[true,null]")
    }
}
