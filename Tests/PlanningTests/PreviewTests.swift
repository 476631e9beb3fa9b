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
                "campaign", "app", "rows", "audience", "skipped", "selected_by", "languages", "variants", "payload_bytes",
                "seconds_at_pace", "samples", "plan_hash",
            ])
        #expect(preview.names.dropFirst(12) == ["messages", "skipped_why", "warnings", "environment", "in_words", "exports"])
        #expect(preview.int("rows") == 20)
        #expect(preview.int("audience") == 11)
        #expect(preview["skipped"] == .object(pairs: [("not_matched", .integer(9))]))
        #expect(preview["selected_by"] == .object(pairs: [("tag:news", .integer(10)), ("registration_id", .integer(1))]))
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
}
