import Foundation
import TestCommands
import Testing

/// Campaigns with people's mistakes, in Tests/Snapshots/mistakes, each with the whole output of `volley check` or, if that finds nothing,
/// of `volley preview`. A reader must be able to correct the file from the output alone.
@Suite("mistakes that people make")
struct MistakeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../Snapshots/mistakes")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(".yaml".count)) }.sorted()
    }()

    @Test("there are at least twenty, and each number stands for one")
    func found() {
        #expect(Self.names.count >= 20)
        #expect(Set(Self.names.map { $0.prefix { $0 != "-" } }).count == Self.names.count)
    }

    @Test("are said in words from which the file can be repaired", arguments: names)
    func mistake(_ name: String) throws {
        let project = try Self.project()
        try project.write("campaign.yaml", Data(contentsOf: Self.folder.appendingPathComponent("\(name).yaml")))
        let checked = try project.volley("check", "campaign.yaml")
        var text = "$ volley check campaign.yaml\n" + checked.errors + checked.output
        if checked.status == 0 {
            let previewed = try project.volley("preview", "campaign.yaml", "--show", "1")
            // The hash tells a person nothing, and changes with the version of the rules.
            let shown = previewed.output.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("Plan hash") }
            text += "\n$ volley preview campaign.yaml\n" + previewed.errors + shown.joined(separator: "\n")
        }
        try expectSnapshot(text, "mistakes/\(name).txt")
        #expect(!text.contains(ProjectFolder.token(1)), "a whole token was shown")
    }

    /// The files that the campaigns refer to.
    private static func project() throws -> ProjectFolder {
        let project = try ProjectFolder(app: "environment: simulator\ndevices: exports/devices.csv")
        try FileManager.default.createDirectory(at: project.url.appendingPathComponent("exports"), withIntermediateDirectories: true)
        var lines = ["device_token,registration_id,alias,tags,language,last_active,app_version,first_name,store"]
        for number in 0..<20 {
            let tags = ["discount", "daily", "discount;daily", "sports"][number % 4]
            let cells = [
                ProjectFolder.token(number), "191e35f7e\(10 + number)", "user\(number / 2)", tags, number % 2 == 0 ? "en" : "de",
                "2026-11-01", "3.\(number).0", number % 3 == 0 ? "" : "Zoë", "Lyon",
            ]
            lines.append(cells.joined(separator: ","))
        }
        let export = lines.joined(separator: "\n") + "\n"
        try project.write("exports/devices.csv", export)
        let quoted = export.replacing("discount;daily", with: "\"discount|daily\"")
        try project.write("exports/semicolons.csv", quoted.replacing(",", with: ";").replacing("|", with: ";"))
        try project.write("exports/utf16.csv", #require(export.data(using: .utf16)))
        try project.write("exports/latin1.csv", #require(export.data(using: .isoLatin1)))
        let signs = ["NULL", "\\N", "N/A", "-", "Anna"]
        let marked = lines.enumerated().map { $0 == 0 ? $1 : $1.replacing(",Zoë,", with: ",\(signs[$0 % 5]),") }
        try project.write("exports/nulls.csv", marked.joined(separator: "\n") + "\n")
        try project.write(
            "exports/open-quote.csv", lines.prefix(3).joined(separator: "\n") + "\n\"" + lines[3...].joined(separator: "\n") + "\n")
        try project.write("exports/devices.xlsx", Data([0x50, 0x4B, 0x03, 0x04]) + Data(count: 200))
        try project.write("exports/renamed.csv", Data([0x50, 0x4B, 0x03, 0x04]) + Data(count: 200))
        try project.write("exports/no-header.csv", export.split(separator: "\n").dropFirst().joined(separator: "\n") + "\n")
        // Exports and lists that have mistakes themselves.
        let others = folder.appendingPathComponent("exports")
        for file in try FileManager.default.contentsOfDirectory(atPath: others.path) {
            try project.write("exports/\(file)", Data(contentsOf: others.appendingPathComponent(file)))
        }
        let columns = (0..<3).map { "\(ProjectFolder.token($0)),discount\n" }
        try project.write("exports/short.csv", "device_token,tags\n" + columns.joined())
        return project
    }
}
