import Base
import Testing

/// The value of a JSON text, written again on one line; or the error.
private func rewritten(_ text: String) -> String {
    do throws(Mistake) {
        return try JSONValue(parsing: text).text
    } catch { return "byte \(error.utf8Offset + 1): \(error.message)" }
}

@Suite struct JSONParsingTests {
    @Test(
        "what RFC 8259 allows is read and written without white space",
        arguments: [
            ("null", "null"), ("true", "true"), ("false", "false"), ("0", "0"), ("-0", "0"), ("-12", "-12"),
            ("\"\"", "\"\""), ("[]", "[]"),
            ("{}", "{}"), ("\u{FEFF}1", "1"), ("\u{FEFF}\u{FEFF} 1", "1"), (" \t\r\n1 \t\r\n", "1"),
            ("[ 1 , 2 ]", "[1,2]"),
            ("{ \"a\" : 1 , \"b\" : [ ] }", #"{"a":1,"b":[]}"#),
            ("1.5", "1.5"), ("1e3", "1000"), ("1E+3", "1000"), ("25e-1", "2.5"), ("-0.0", "0"), ("1.0", "1"),
            ("0.1", "0.1"),
            ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", "9.223372036854776e+18"), ("1e-400", "0"), ("5e-324", "5e-324"),
            (#"{"a":1,"a":2}"#, #"{"a":1,"a":2}"#), (#""\u00e9\u20AC""#, "\"é€\""), (#""\ud83d\uDE00""#, "\"😀\""),
            (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\u0008\u000c\n\r\t""#), (#""\u0000""#, #""\u0000""#),
            ("\"\u{7F}\u{2028}\"", "\"\u{7F}\u{2028}\""),
        ])
    func valid(text: String, expected: String) {
        #expect(rewritten(text) == expected)
    }

    @Test(
        "what RFC 8259 does not allow is an error at its byte",
        arguments: [
            ("", "byte 1: the JSON ends too early"), ("  ", "byte 3: the JSON ends too early"),
            ("nul", "byte 1: a text is not in quotes (\")"),
            ("nulL", "byte 1: nulL is not a value of JSON: write null"),
            ("True", "byte 1: True is not a value of JSON: write true"),
            ("1 2", "byte 3: something follows the end of the JSON"),
            ("[1,]", "byte 4: there is a comma before the ']': remove it"),
            ("[1", "byte 3: expected ',' or ']'"),
            ("[1 2]", "byte 4: expected ',' or ']'"),
            ("{\"a\":1,}", "byte 8: there is a comma before the '}': remove it"),
            ("{a:1}", "byte 2: a name is not in quotes (\")"),
            ("{\"a\" 1}", "byte 6: expected ':'"), ("{\"a\":}", "byte 6: a value is missing"),
            ("{\"a\":1", "byte 7: expected ',' or '}'"),
            ("{", "byte 2: the JSON ends too early"), ("-", "byte 1: expected a value"),
            ("1e", "byte 1: expected a value"), ("1e+", "byte 1: expected a value"),
            ("1e400", "byte 1: the number is too large"),
            ("\"abc", "byte 1: the text has no closing quote"),
            ("\"a\nb\"", "byte 3: there is a control character inside a text"),
            (#""\x""#, "byte 2: an unknown escape"), (#""\"#, "byte 3: the JSON ends too early"),
            (#""\u12""#, "byte 4: the JSON ends too early"),
            (#""\u12G4""#, "byte 4: expected four hex digits"), (#""\ud800""#, "byte 8: half of a surrogate pair"),
            (#""\udc00""#, "byte 8: half of a surrogate pair"),
            (#""\ud800\u0041""#, "byte 14: half of a surrogate pair"),
            (#""\ud800\ue000""#, "byte 14: half of a surrogate pair"),
            (#""\ud800\ud800""#, "byte 14: half of a surrogate pair"),
            ("[1]]", "byte 4: something follows the end of the JSON"),
        ])
    func invalid(text: String, expected: String) {
        #expect(rewritten(text) == expected)
    }

    @Test(
        "what other languages write for a value is named, with what JSON has for it",
        arguments: [
            ("NaN", "NaN is not a number of JSON: write null"), ("nan", "nan is not a number of JSON: write null"),
            ("Infinity", "Infinity is not a number of JSON: write null"),
            ("-Infinity", "-Infinity is not a number of JSON: write null"),
            ("+inf", "+inf is not a number of JSON: write null"),
            ("undefined", "undefined is not a value of JSON: write null"),
            ("None", "None is not a value of JSON: write null"), ("FALSE", "FALSE is not a value of JSON: write false"),
            ("+1", "+1 is not a number of JSON: write 1"), (".5", ".5 is not a number of JSON: write 0.5"),
            ("-.5", "-.5 is not a number of JSON: write -0.5"), ("1.", "1. is not a number of JSON: write 1"),
            ("1.e3", "1.e3 is not a number of JSON: write 1e3"), ("0x10", "0x10 is not a number of JSON: write 16"),
            ("-0XfF", "-0XfF is not a number of JSON: write -255"),
            ("01", "01 is not a number of JSON: write 1, or \"01\" if the zeros belong to it"),
            ("-007.50", "-007.50 is not a number of JSON: write -7.50"), ("yes", "a text is not in quotes (\")"),
            ("'a'", "texts stand in double quotes (\"), not in single ones"),
            ("\u{201C}a\u{201D}", "texts stand in straight quotes (\"), not in typographic ones"),
            ("/* a */ 1", "JSON has no comments: remove this one"), ("// a", "JSON has no comments: remove this one"),
            ("# a", "JSON has no comments: remove this one"),
        ])
    func typos(value: String, message: String) {
        #expect(rewritten(value) == "byte 1: \(message)")
        #expect(rewritten("[\(value)\n]") == "byte 2: \(message)")
        #expect(rewritten("{\"a\": \(value)\n}") == "byte 7: \(message)")
    }

    @Test("a decimal comma between the members of an object is named")
    func decimalComma() {
        #expect(
            rewritten(#"{"a": 1,5}"#) == "byte 9: expected a name in quotes: a decimal number has a point, not a comma")
    }

    @Test(
        "text that is not UTF-8 is an error",
        arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: Mistake("the text is not UTF-8", at: 1)) {
            try JSONValue(parsing: [0x5B, 0x22] + bytes + [0x22, 0x5D])
        }
    }

    @Test("nesting is limited where the caller says")
    func depth() {
        let fits = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(rewritten(fits) == fits)
        #expect(rewritten("[" + fits + "]") == "byte 65: nested deeper than 64 levels")
        #expect(rewritten(String(repeating: "{\"a\":", count: 100_000)) == "byte 321: nested deeper than 64 levels")
        #expect(throws: Mistake.self) { try JSONValue(parsing: "[[1]]", maximumDepth: 1) }
        // The depth of values next to each other does not add up.
        #expect(rewritten("[" + Array(repeating: "[]", count: 200).joined(separator: ",") + "]").hasPrefix("[[],[]"))
    }

    @Test("a name asks for the last member of that name")
    func lookUp() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":"x","a":2}"#)
        #expect(value["a"]?.integerValue == 2)
        #expect(value["b"]?.stringValue == "x")
        #expect(value["c"] == nil)
        #expect(JSONValue.array([])["a"] == nil)
    }

    @Test("values survive being written and read, on one line and indented")
    func roundTrip() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let value = randomValue(&random, depth: 0)
            #expect(try JSONValue(parsing: value.text) == value)
            #expect(try JSONValue(parsing: value.indentedText) == value)
        }
    }

    @Test("random damage to a JSON text never crashes, and what is still read can be written")
    func damage() throws {
        var random = SystemRandomNumberGenerator()
        let signs = Array("{}[]\",:\\u0123456789eE+-. \ntfnd\u{0}".utf8)
        for _ in 0..<1500 {
            var bytes = Array(randomValue(&random, depth: 0).text.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let byte = signs.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.insert(byte, at: place)
                case 1 where place < bytes.count: bytes[place] = byte
                case 2 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &random)
                default: bytes.removeSubrange(place...)
                }
            }
            // Texts are compared, not values: 1.0 comes back as the integer 1.
            if let text = try? JSONValue(parsing: bytes).text { #expect((try? JSONValue(parsing: text).text) == text) }
        }
    }

    private func randomValue(_ random: inout SystemRandomNumberGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        case 3:
            let bits = Double(bitPattern: .random(in: .min ... .max, using: &random))
            // A whole number comes back as an integer, and JSON has no infinities.
            return bits.isFinite && bits != bits.rounded() ? .double(bits) : .double(0.5)
        case 4: return .string(randomText(&random))
        case 5:
            return .array(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in randomValue(&random, depth: depth + 1) })
        default:
            let names = (0..<Int.random(in: 0...4, using: &random)).map { _ in randomText(&random) }
            return .object(names.map { JSONMember($0, randomValue(&random, depth: depth + 1)) })
        }
    }

    private func randomText(_ random: inout SystemRandomNumberGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let limit: UInt32 = [0x20, 0x80, 0x10FFFF].randomElement(using: &random) ?? 0x80
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) { text.append(scalar) }
        }
        return String(text)
    }
}
