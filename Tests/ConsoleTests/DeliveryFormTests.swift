import Base
import Campaigns
import Foundation
import Testing

@testable import volley_console

/// How of the composer, and values with a notation of their own.
@Suite("how in the composer")
struct DeliveryFormTests {
    /// What a form makes of a source.
    private func applied(_ form: [String: String], _ source: String) throws -> (
        text: String, mistakes: [String: Mistake]
    ) {
        var edit = try #require(YAMLEdit(source))
        let mistakes = CampaignForm.apply(form, to: &edit)
        return (edit.text, mistakes)
    }

    @Test(
        "a value with a notation is shown in parts, written from them, and left alone where both mean the same",
        arguments: [
            (Notation.pace, "300000/min", ["300000", "min"]), (.pace, "5000 / s", ["5000", "s"]),
            (.hours, "21:00-08:00", ["21:00", "08:00"]),
            (.hours, "9:00 - 24:00", ["09:00", "00:00"]), (.expiry, "4h", ["4", "h"]), (.expiry, "0", ["0", "h"]),
            (.frequency, "at most 2 per 7 days", ["2", "7", "day"]), (.frequency, "1 per day", ["1", "1", "day"]),
            (.percent, "0.5%", ["0.5"]),
        ])
    func notations(notation: Notation, text: String, parts: [String]) throws {
        #expect(notation.split(text) == parts)
        var form = Dictionary(uniqueKeysWithValues: zip(NotationControl.names("x", notation), parts))
        #expect(try NotationControl.text("x", notation, form, shown: text) == text)
        form["x.number"] = form["x.number"].map { $0 + "1" }
        form["x.from"] = form["x.from"].map { _ in "22:00" }
        let changed = try #require(try NotationControl.text("x", notation, form, shown: text))
        #expect(changed != text && notation.split(changed) != nil)
    }

    @Test("what parts cannot show stays one field of text, and what is no number is refused in the words of the form")
    func oddNotations() throws {
        for (notation, text) in [
            (Notation.pace, "fast"), (.hours, "21-8"), (.expiry, "2099-12-01 18:00 +01:00"), (.frequency, "daily"),
            (.percent, "off"),
        ] {
            #expect(notation.split(text) == nil)
            #expect(try NotationControl.text("x", notation, ["x": text], shown: text) == text)
            let field = CampaignForm.Field(path: ["x"], label: "X", kind: .notation(notation))
            #expect(
                NotationControl.html(ShownValue(field: field, present: text, text: text), notation).markup.contains(
                    "name=\"x\""))
        }
        for (notation, form) in [
            (Notation.pace, ["x.number": "fast", "x.unit": "s"]), (.percent, ["x.number": "a"]),
            (.hours, ["x.from": "21:00", "x.until": ""]),
            (.frequency, ["x.number": "2", "x.length": "", "x.unit": "day"]),
        ] {
            #expect(throws: Mistake.self) { try NotationControl.text("x", notation, form, shown: "") }
        }
    }

    @Test("how it is delivered is written as the language has it, and blank takes it back")
    func delivery() throws {
        let form = [
            "delivery.pace.number": "5000", "delivery.pace.unit": "s", "delivery.expires.number": "4",
            "delivery.expires.unit": "h",
            "delivery.priority": "normal", "delivery.collapse": "spring-sale", "delivery.frequency.number": "2",
            "delivery.frequency.length": "7", "delivery.frequency.unit": "day",
            "delivery.stop_when.invalid_token.number": "20",
            "delivery.stop_when.after": "500", "delivery.unknown": "skip", "delivery.track": "true",
        ]
        let source = "name: a\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\n"
        let (text, mistakes) = try applied(form, source)
        #expect(mistakes.isEmpty, "\(mistakes)")
        let draft = Campaign.draft(text: text, file: "a.yaml", now: .now())
        let delivery = try #require(draft.campaign?.delivery, "\(draft.findings)")
        #expect(
            delivery.pace == Pace(pushes: 5_000, intervalSeconds: 1) && delivery.expiry == .after(seconds: 4 * 3_600))
        #expect(
            delivery.priority == .normal && delivery.collapseID?.value == "spring-sale"
                && delivery.unknownPolicy == .skip)
        #expect(delivery.frequency == FrequencyCap(pushes: 2, seconds: 7 * 86_400) && delivery.tracking == .visible)
        #expect(delivery.stopLimits?.after == 500 && delivery.stopLimits?.shares[.invalidToken]?.millionths == 200_000)
        let blank = form.mapValues { _ in "" }
        #expect(try applied(blank, text).text == source)
    }

    @Test("how long sending takes is that of the slower of the campaign's pace and the app's")
    func duration() {
        let app = Pace(pushes: 100, intervalSeconds: 1)
        #expect(HowSection.duration(of: 8_249, pace: "10/s", app: app).markup == "8,249 devices take 13 min.")
        #expect(
            HowSection.duration(of: 600, pace: "1000/s", app: app).markup
                == "600 devices take 6 s at the pace of the app.")
        #expect(HowSection.duration(of: 10, pace: "", app: nil).markup.hasPrefix("There is no limit"))
    }
}
