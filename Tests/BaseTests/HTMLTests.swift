import Base
import Testing

@Suite("texts in pages")
struct HTMLTests {
    @Test("each character is as a browser takes it: no control characters, and none that is markup")
    func characters() {
        let entities: [Unicode.Scalar: String] = [
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;", "\n": "\n", "\t": "\t",
        ]
        for scalar in (UInt32(0)...0x2FF).compactMap(Unicode.Scalar.init) + ["\u{C2}", "ん", "\u{2028}", "🦆"] {
            let text = "aé\(String(scalar))b", isControl = scalar.properties.generalCategory == .control
            let shown = isControl && entities[scalar] == nil ? "\u{FFFD}" : String(scalar)
            #expect(HTML.shown(text) == "aé\(shown)b")
            #expect(HTML.escaped(text) == "aé\(entities[scalar] ?? shown)b")
        }
    }
}
