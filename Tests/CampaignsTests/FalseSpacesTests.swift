import Base
import Testing

@testable import Campaigns

@Suite("Characters that look like spaces")
struct FalseSpacesTests {
    private static let space = "\u{A0}"

    @Test("are welcome inside a text, also at the beginning of a paragraph")
    func insideText() throws {
        let yaml =
            "content:\n  title: 20\(Self.space)% off\n  body: |\n    Hello\n    \(Self.space)note: this\n    \u{3000}\u{3000}你好\n"
        #expect(try readPart(yaml).0.content.title?.value == "20\(Self.space)% off")
    }

    @Test(
        "are named where they stand in YAML's way, instead of what follows from them",
        arguments: [
            (
                "name: a\n\(space)app: shop\n",
                "campaign.yaml:2:1: there is a non-breaking space at the beginning of this line;"
            ),
            (
                "content:\n \u{2003}title: Hi\n",
                "campaign.yaml:2:2: there is a special space at the beginning of this line;"
            ),
            (
                "content:\n  title:\(space)Hi\n  body: x\n",
                "campaign.yaml:2:9: there is a non-breaking space after the colon;"
            ),
            (
                "audience:\n  tags:\n    -\(space)a\n",
                "campaign.yaml:3:6: there is a non-breaking space at the beginning of this line;"
            ),
            (
                "audience:\n\u{3000}tags: [a]\n",
                "campaign.yaml:2:1: there is a full-width space at the beginning of this line;"
            ),
            (
                "content:\n\u{200B}  title: Hi\n",
                "campaign.yaml:2:1: there is a character without width at the beginning of this line;"
            ),
        ])
    func inTheWay(yaml: String, start: String) {
        let found = found { () throws(Diagnostics) in try readPart(yaml) }
        #expect(found.hasPrefix(start))
        #expect(!found.contains("\n"), "\(found)")
    }

    @Test("do not hide the mistakes of the lines above")
    func linesAbove() {
        let found = found { () throws(Diagnostics) in
            try readPart("name: Bad Name\napp: shop\ncontent:\n\(Self.space)title: Hi\n")
        }
        #expect(found.split(separator: "\n").map { $0.prefix(18) } == ["campaign.yaml:1:7:", "campaign.yaml:4:1:"])
    }
}
