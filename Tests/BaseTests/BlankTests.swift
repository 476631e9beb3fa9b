import Base
import Testing

@Suite("Blank cells")
struct BlankTests {
    private static let signs = [
        "-", "--", "—", #"\N"#, "N/A", "NULL", "(null)", "[null]", "<null>", "nan", "None", "undefined", "#REF!", "#NV",
    ]
    private static let others = ["", "a", "-a", "----", #"\"#, #"""#, "Null", "0", "n", "\u{200B}", "é"]
    private static let around = [
        " ", "\t", "\n", "\r", "\u{00}", "\u{0B}", "\u{10}", "\u{1F}", "\u{7F}", "\u{A0}", #"""#, #"\"#,
    ]

    /// A sign or something else, with up to three characters before and after it.
    private func cell(_ random: inout some RandomNumberGenerator) -> String {
        func one(of texts: [String]) -> String { texts[Int.random(in: texts.indices, using: &random)] }
        func some() -> String { (0..<Int.random(in: 0...3, using: &random)).map { _ in one(of: Self.around) }.joined() }
        return some() + one(of: Self.signs + Self.others) + some()
    }

    @Test("a cell is blank in JSON's form just when it is as it was read")
    func escaped() {
        var random = SystemRandomNumberGenerator()
        var blank = 0
        for _ in 0..<3000 {
            let text = cell(&random)
            var json: [UInt8] = []
            Array(text.utf8).withUnsafeBufferPointer { JSONWriter.appendEscaped($0, to: &json) }
            let isBlank = Blank.isCell(text)
            #expect(json.withUnsafeBufferPointer { Blank.isCell(escaped: $0) } == isBlank)
            if isBlank { blank += 1 }
        }
        #expect((150..<2850).contains(blank))
    }

    @Test(
        "white space and control characters beside a sign change nothing",
        arguments: ["\u{10}-\u{0B}", "\t-", "-\n", " NULL\r", "\u{00}\\N\u{1F}"])
    func around(text: String) {
        #expect(Blank.isCell(text) && Blank.isSign(text))
    }
}
