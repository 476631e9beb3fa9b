import Base
import Foundation
import TestCommands
import Testing

@Suite("volley preview")
struct PreviewTests {
    @Test("the document has the fields of the contract, and its sums hold")
    func document() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(
            audience: "devices: devices.csv\ntags: [news]\nregistration_ids: [reg1]",
            content: "title: \"Hi {{ first_name | default: 'there' }}\"\nbody: World",
            delivery: "pace: 2/s")
        let result = try folder.preview(samples: 2, isJSON: true)
        #expect(result.status == 0, "\(result.errors)")
        let preview = try result.json()
        #expect(
            preview.names.prefix(12) == [
                "campaign", "app", "rows", "audience", "skipped", "selected_by", "languages", "variants",
                "payload_bytes",
                "seconds_at_pace", "samples", "plan_hash",
            ])
        #expect(
            preview.names.dropFirst(12) == [
                "messages", "skipped_why", "warnings", "environment", "in_words", "exports",
            ])
        #expect(preview.int("rows") == 20)
        #expect(preview.int("audience") == 11)
        #expect(preview["skipped"] == .object(pairs: [("not_matched", .integer(9))]))
        #expect(
            preview["selected_by"] == .object(pairs: [("tag:news", .integer(10)), ("registration_id", .integer(1))]))
        #expect(preview["languages"] == .object(pairs: [("en", .integer(11))]))
        #expect(preview["seconds_at_pace"] == .double(5.5))
        guard case .array(let samples)? = preview["samples"] else { Issue.record("no samples"); return }
        #expect(samples.count == 2)
        #expect(samples[0].names == ["device_token", "selected_by", "payload"])
        #expect(samples[0]["device_token"]?.stringValue == "aa00…0000")
        #expect(samples[0]["payload"]?["aps"]?["alert"]?["title"]?.stringValue == "Hi there")
        #expect(preview["plan_hash"]?.stringValue?.count == 64)
    }

    @Test("equal input gives an equal plan hash, other input another")
    func planHash() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        func hash() throws -> String? { try folder.preview(isJSON: true).json()["plan_hash"]?.stringValue }
        let first = try hash()
        #expect(try first == hash())
        try folder.write("devices.csv", ProjectFolder.export(devices: 21))
        #expect(try first != hash())
    }

    @Test("a preview writes nothing")
    func writesNothing() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let before = folder.files(in: ".")
        #expect(try folder.preview().status == 0)
        #expect(folder.files(in: ".") == before)
    }

    @Test("no device token appears whole")
    func tokensAreShortened() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 3) + "7276zz\n")
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nmax_bad_rows: 50%")
        let result = try folder.preview(samples: 10)
        #expect(result.status == 0, "\(result.errors)")
        for device in 0..<3 { #expect(!(result.output + result.errors).contains(ProjectFolder.token(device))) }
        #expect(result.output.contains("aa00…0002"))
    }

    private static let token = "0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdeffedcba9876543210"

    /// As columns of exports hold it, and the same of another service's.
    private static let writings: [String] = {
        let fcm =
            "dGhpc2lzYXRlc3Q6QVBB:APA91bH" + "q7Xk_2Lw9-ZtR4vPm1Yc8Ns".reversed()
            + String(repeating: "uB3fJ6h-K0gD5_", count: 9)
        func grouped(_ digits: Int, by sign: String) -> String {
            stride(from: 0, to: 64, by: digits).map { String(token.dropFirst($0).prefix(digits)) }.joined(
                separator: sign)
        }
        let bytes = Data(stride(from: 0, to: 64, by: 2).compactMap { UInt8(token.dropFirst($0).prefix(2), radix: 16) })
        let base64 = bytes.base64EncodedString()
        return [
            token, "<\(grouped(8, by: " "))>", grouped(4, by: "-"), grouped(2, by: ":"), grouped(16, by: "\u{A0}"),
            base64,
            base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
            "sent to \(grouped(8, by: " ")) at noon",
            fcm, String(fcm.prefix(60)), String(grouped(8, by: " ").prefix(35)),
        ]
    }()

    @Test("no device token appears whole, in whatever writing a column holds it", arguments: writings)
    func tokensInCells(writing: String) throws {
        let export =
            "device_token,last_active,language,seen,plan\n\(Self.token),\(writing),\(writing),\(writing),a\n"
            + "\(ProjectFolder.token(1)),2026-11-01,en,4,a\n"
        let folder = try ProjectFolder(export: export)
        let number = "{% if seen > 3 %}a{% else %}b{% endif %}"
        for (audience, title) in [
            ("where: {last_active: within 3650 days}", "Hi"), ("where: {seen: \"> 3\"}", "Hi"),
            ("where: {seen: \"> 3.1.0\"}", "Hi"),
            ("where: {plan: a}", number), ("where: {plan: a}", "Hi {{ seen }}"), ("where: {seen: [x, 4]}", "Hi"),
        ] {
            try folder.writeCampaign(
                audience: "devices: devices.csv\neveryone: true\n\(audience)",
                content: "title: \"\(title)\"\nlanguages: {de: {title: Hallo}}")
            for isJSON in [false, true] {
                let result = try folder.preview(samples: 10, isJSON: isJSON)
                #expect(result.status == 0, "\(result.errors)")
                let said = Self.letters(result.output + result.errors), letters = Array(Self.letters(writing))
                for start in 0...max(0, letters.count - 13) where letters.count > 13 {
                    let part = String(letters[start..<start + 13])
                    if said.contains(part), !part.allSatisfy(\.isLetter) {
                        Issue.record("\(part) of \(audience), \(title)"); break
                    }
                }
            }
        }
    }

    private static func letters(_ text: String) -> String { text.lowercased().filter { $0.isLetter || $0.isNumber } }
}
