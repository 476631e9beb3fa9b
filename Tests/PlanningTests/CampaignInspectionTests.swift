import Base
import Foundation
import TestCommands
import Testing

@testable import Planning

/// Problems that are known before the time of a campaign that could not be planned.
@Suite("mistakes in the lists and files of scheduled campaigns")
struct CampaignInspectionTests {
    private static let campaign = "app: shop\ncontent: {title: Hi, body: x}\n"
    private static let toCome = "schedule: {at: 2035-12-01 09:00, timezone: UTC}\n"

    private func folder(_ audience: String, schedule: String = toCome) throws -> ProjectFolder {
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: devices.csv")
        try folder.write("c.yaml", "name: c\n\(Self.campaign)audience: \(audience)\n\(schedule)")
        try folder.write("empty.txt", "")
        try folder.write("u16.txt", Data([0xFF, 0xFE] + Array("vip\n".utf8).flatMap { [$0, 0] }))
        try folder.write("mail.csv", "ann@example.com\nx\n")
        try folder.write("names.txt", "vip\n")
        return folder
    }

    private func file(_ name: String, _ folder: ProjectFolder) -> CampaignFile {
        CampaignFile(folder.url.appendingPathComponent(name).path)
    }

    @Test("a campaign whose folder was moved is said to be in no folder, rather than without a volley.yaml")
    func movedFolder() throws {
        let folder = try folder("{everyone: true}"), fields = "name: c\n\(Self.campaign)audience: {everyone: true}\n"
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("deep"), withIntermediateDirectories: true)
        try folder.write("deep/c.yaml", fields)
        let campaign = file("deep/c.yaml", folder)
        try FileManager.default.moveItem(
            at: folder.url.appendingPathComponent("deep"), to: folder.url.appendingPathComponent("deep.moved"))
        let gone = CampaignContext.noProject(of: campaign.path, remedy: "Name one.").description
        #expect(
            gone.hasSuffix(
                "the folder of this campaign is not there. Put it back, or name the place where the campaign is now."),
            "\(gone)"
        )
        let there = CampaignContext.noProject(of: "/c.yaml", remedy: "Name one.").description
        #expect(there == "/c.yaml: there is no volley.yaml in this campaign's folder or above it. Name one.")
    }

    @Test(
        "are those that check names: of lists, exclusion lists, exports and columns",
        arguments: [
            "{tags: {file: none.txt}}", "{tags: {file: empty.txt}}", "{tags: {file: u16.txt}}", "{tags: {file: .}}",
            "{everyone: true, exclude: {devices: none.csv}}", "{everyone: true, exclude: {devices: mail.csv}}",
            "{everyone: true, devices: none.csv}", "{everyone: true, where: {nocolumn: x}}",
        ])
    func mistakes(audience: String) throws {
        let folder = try folder(audience), said = check(file("c.yaml", folder), at: .now()).errors.map(\.description)
        var inspection = CampaignInspection()
        let found = inspection.obstacles(to: [file("c.yaml", folder)], now: .now())
        #expect(!said.isEmpty && found.allSatisfy { $0.severity == .warning })
        #expect(found.map { $0.description.replacing("warning: ", with: "") } == said, "\(found)")
        let byHand = try self.folder(audience, schedule: "")
        #expect(inspection.obstacles(to: [file("c.yaml", byHand)], now: .now()).isEmpty)
    }

    @Test("are not files of a date, which are there when it comes")
    func dated() throws {
        let folder = try folder(
            "{devices: 'devices-{{ date }}.csv', everyone: true, exclude: {devices: 'no-{{ date }}.csv'}}")
        var inspection = CampaignInspection()
        #expect(inspection.obstacles(to: [file("c.yaml", folder)], now: .now()).isEmpty)
    }

    @Test("are seen when a list changes and when it is mended, and one of several campaigns is said once")
    func changes() throws {
        let folder = try folder("{tags: {file: names.txt}}")
        try folder.write("d.yaml", "name: d\n\(Self.campaign)audience: {aliases: {file: names.txt}}\n\(Self.toCome)")
        var inspection = CampaignInspection()
        func messages() -> [String] {
            inspection.obstacles(to: [file("c.yaml", folder), file("d.yaml", folder)], now: .now()).map(\.description)
        }
        #expect(messages() == [])
        try folder.write("names.txt", "")
        #expect(!messages().isEmpty && messages() == messages() && Set(messages()).count == messages().count)
        try folder.write("names.txt", "gold\n")
        #expect(messages() == [])
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("devices.csv"))
        #expect(messages().count == 1, "\(messages())")
        // A mistake elsewhere in the same file hides nothing; one of a whole file is reported once.
        let (hook, whole) = (
            Diagnostic("no hook", file: "volley.yaml"),
            Diagnostic("not readable", file: folder.url.path + "/devices.csv")
        )
        let said = inspection.obstacles(to: [file("c.yaml", folder)], besides: [hook, whole], now: .now())
        #expect(said.count == 1 && said[0].position?.file.hasSuffix("volley.yaml") == true, "\(said)")
    }
}
