import Base
import Campaigns
import Testing

@testable import Planning

@Suite("An audience in words")
struct AudienceWordsTests {
    private func text(_ value: String) -> SourceText {
        SourceText(value, at: SourcePosition(file: "c.yaml", line: 1, column: 1))
    }

    private func names(_ values: String..., file: String? = nil) -> NameList {
        var list = NameList()
        (list.names, list.file) = (values.map(text), file.map(text))
        return list
    }

    private func sentence(_ change: (inout CampaignAudience) -> Void) -> String {
        var audience = CampaignAudience(position: SourcePosition(file: "c.yaml", line: 1, column: 1))
        change(&audience)
        return AudienceWords(audience: audience).sentence
    }

    @Test("selectors, conditions and exclusions are each told, with the word that joins them")
    func whole() {
        #expect(sentence { $0.everyone = true } == "Every device of the export.")
        #expect(
            sentence { ($0.anyTags, $0.noneTags) = (names("a", "b"), names("c")) }
                == "Devices with the tag a or b and without the tag c.")
        #expect(sentence { $0.allTags = names("a", "b") } == "Devices with all of the tags a and b.")
        let all = sentence {
            ($0.anyTags, $0.aliases, $0.registrationIDs) = (names("a"), names("u1", file: "vip.txt"), names("r1"))
            $0.conditions = [
                ColumnCondition(column: text("language"), test: .oneOf(["en", "de", "fr"])),
                ColumnCondition(column: text("last_active"), test: .within(seconds: 30 * 86_400)),
            ]
            ($0.excludedTags, $0.excludedDevices) = (names("x"), [text("left.csv")])
        }
        #expect(
            all
                == "Devices with the tag a, the devices of u1 and those in vip.txt and the devices registered as r1, where language is en, de or fr and last_active is within the last 30 days. Left out: devices with the tag x; devices listed in left.csv."
        )
    }

    @Test(
        "each kind of condition has its words",
        arguments: [
            (ColumnTest.comparison(.less, "3"), "is below 3"), (.comparison(.lessOrEqual, "3"), "is at most 3"),
            (.comparison(.equal, "3"), "is 3"),
            (.comparison(.notEqual, "3"), "is not 3"), (.comparison(.greaterOrEqual, "3"), "is at least 3"),
            (.comparison(.greater, "3"), "is above 3"),
            (.olderThan(seconds: 3600), "is more than 1 hour ago"), (.present, "is filled in"), (.missing, "is blank"),
        ])
    func conditions(test: ColumnTest, words: String) {
        #expect(AudienceWords.words(ColumnCondition(column: text("c"), test: test)) == "c \(words)")
    }

    @Test("long lists are cut, with the number of the others, and device tokens are shortened")
    func short() {
        let token = String(repeating: "ab", count: 32)
        #expect(
            sentence { $0.aliases = names("a", "b", "c", "d", "e", "f", "g") }
                == "The devices of a, b, c, d, e and 2 more.")
        #expect(sentence { $0.registrationIDs = names(token) } == "The devices registered as abab…abab.")
        #expect(AudienceWords.words(ColumnCondition(column: text("t"), test: .oneOf([token]))) == "t is abab…abab")
        #expect(
            AudienceWords.words(ColumnCondition(column: text("t"), test: .comparison(.equal, token)))
                == "t is abab…abab")
    }
}
