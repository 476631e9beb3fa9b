import Base
import TestCommands
import Testing

@Suite("An audience that dropped")
struct ShrinkingTests {
    /// A campaign that went to 20 devices, of which 8 are left.
    private func folder(_ limit: String? = nil) throws -> ProjectFolder {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try #require(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        try folder.write("devices.csv", ProjectFolder.export(devices: 8))
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true" + (limit.map { "\nshrinks_at_most: \($0)" } ?? ""))
        return folder
    }

    @Test(
        "by more than the campaign allows is neither planned nor sent, with both numbers and what to do",
        arguments: ["plan", "send"])
    func refused(command: String) throws {
        let folder = try folder("50%")
        let runs = folder.files(in: "runs")
        let result = try VolleyBinary.run(
            [command, "campaign.yaml"] + (command == "send" ? ["--yes"] : []), in: folder.url)
        #expect(result.status == 2)
        #expect(
            result.errors.contains("campaign.yaml:6:3: the audience has 8 devices, 60.0 % fewer than the 20 of "),
            "\(result.errors)")
        #expect(!result.errors.contains("warning:"), "\(result.errors)")
        #expect(result.errors.contains("but it may shrink by at most 50%"), "\(result.errors)")
        #expect(
            result.errors.contains("write `shrinks_at_most: off`, or a larger share, under `audience`"),
            "\(result.errors)")
        #expect(folder.files(in: "runs") == runs)
    }

    @Test(
        "by less than the campaign allows, or with the guard off, is sent; by hand nothing is held back without the key",
        arguments: ["61%", "60%", "off", nil])
    func sent(limit: String?) throws {
        let result = try folder(limit).volley("send", "campaign.yaml", "--yes")
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(
        "because of frequency has not dropped: a campaign that is sent again is planned; with the export cut off, too, it is not"
    )
    func leftOut() throws {
        let folder = try ProjectFolder()
        func write() throws {
            try folder.writeCampaign(
                audience: "devices: devices.csv\neveryone: true\nshrinks_at_most: 50%",
                delivery: "frequency: at most 1 per 7 days")
        }
        try write()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        let again = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try again.status == 0 && again.json()["skipped"]?.int("frequency") == 20, "\(again.errors)")
        #expect(
            !again.errors.contains("[audience-changed]") && !again.errors.contains("[audience-dropped]"),
            "\(again.errors)")
        try folder.write("devices.csv", ProjectFolder.export(devices: 8))
        let cut = try folder.volley("plan", "campaign.yaml")
        #expect(
            cut.status == 2
                && cut.errors.contains(
                    "the audience has 0 devices, with those left out on purpose 8, 60.0 % fewer than the 20 of "),
            "\(cut.errors)")
    }

    @Test("is shown in a preview, with a warning that it will not be planned")
    func preview() throws {
        let folder = try folder("50%")
        let result = try folder.volley("preview", "campaign.yaml", "--json")
        #expect(result.status == 0)
        #expect(try result.json().int("audience") == 8)
        #expect(
            result.errors.contains("it will not be planned") && result.errors.contains("[audience-dropped]"),
            "\(result.errors)")
        #expect(!result.errors.contains("[audience-changed]"))
        let text =
            "name: test\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hello, body: World}\n"
        try folder.write("campaign.yaml", text + "schedule: {at: 2027-01-01 09:00, timezone: UTC}\n")
        // Without the key, a schedule allows half.
        #expect(try folder.volley("preview", "campaign.yaml").errors.contains("[audience-dropped]"))
    }
}
