import Foundation
import TestCommands
import Testing

/// The parts of docs/reference about a campaign file: its examples are valid campaigns, and those
/// that are not are followed by what `volley check` says about them.
@Suite("the reference of the campaign file")
struct CampaignReferenceTests {
    /// A block in YAML, and the message that the next block promises.
    struct Example: CustomTestStringConvertible, Sendable {
        var page: String
        var line: Int
        var yaml: String
        var message: String?
        var testDescription: String { "\(page), line \(line)" }
    }

    private static let examples = ["campaigns.md", "templates.md", "warnings.md"].flatMap(read(page:))

    private static func read(page: String) -> [Example] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../docs/reference/\(page)")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        var examples: [Example] = []
        var open: (language: Substring, line: Int, text: [Substring])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard line.hasPrefix("```") else {
                open?.text.append(line)
                continue
            }
            guard let block = open else {
                open = (line.dropFirst(3), index + 1, [])
                continue
            }
            let body = block.text.map { $0 + "\n" }.joined()
            if block.language == "yaml" { examples.append(Example(page: page, line: block.line, yaml: body)) }
            if block.language == "text", !examples.isEmpty { examples[examples.count - 1].message = body }
            open = nil
        }
        return examples
    }

    @Test("there are examples, of both kinds, and on every page")
    func found() {
        #expect(Set(Self.examples.map(\.page)).count == 3)
        #expect(Self.examples.count { $0.message == nil } > 10 && Self.examples.count { $0.message != nil } > 15)
    }

    @Test("each is as fine, or as wrong, as it says", arguments: examples)
    func isTrue(_ example: Example) throws {
        // An example with FCM belongs to an app with FCM, and a phone there.
        let hasFCM = example.yaml.contains("fcm:"), hasJPush = example.yaml.contains("jpush:")
        let columns =
            (hasJPush ? "jpush_id," : "")
            + "fcm_token,device_token,registration_id,alias,tags,language,timezone,last_active,registered_at,first_name,store,app_version,"
            + "points,points_expire,files,level,start_token,activity_token"
        let row =
            (hasJPush ? "," : "")
            + ",\(ProjectFolder.token(1)),191e35f7e07,user42,daily,en,Europe/Berlin,2026-11-01,2026-10-01,Ada,Lyon,3.10.0,1250,2026-12-24,3,gold,,"
        let android =
            "cJ8xk2LmQz0:APA91b" + String(repeating: "x", count: 120) + ","
            + row.dropFirst(1 + ProjectFolder.token(1).count)
        // An example whose devices a service chooses belongs to an app with that service.
        let further =
            (hasFCM ? ["fcm: {project: shop-1a2b, environment: simulator}"] : [])
            + (hasJPush || example.yaml.contains("by: jpush")
                ? ["jpush: {app_key: 0123456789abcdef01234567, environment: simulator}"] : [])
            + (example.yaml.contains("by: getui")
                ? ["getui: {app_id: SimulatorAppId00000000, app_key: SimulatorAppKey0000000, environment: simulator}"]
                : [])
        let services = further.isEmpty ? "" : "\nservices: {\(further.joined(separator: ", "))}"
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: exports/devices.csv" + services)
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("exports"), withIntermediateDirectories: true)
        try folder.write("exports/devices.csv", columns + "\n" + row + "\n" + (hasFCM ? android + "\n" : ""))
        try folder.write("vip.txt", "user42\n")
        try folder.write("suppressed.csv", ProjectFolder.token(2) + "\n")
        // Parts that an example leaves out are added after it, so that it keeps its places.
        let content = example.yaml.contains("by: getui") ? "{title: Hi, body: Sale}" : "{title: Hi}"
        let needed = [("name", "a"), ("app", "shop"), ("audience", "{tags: [daily]}"), ("content", content)]
        let lines = example.yaml.split(separator: "\n")
        let rest = needed.filter { key, _ in !lines.contains { $0.hasPrefix(key + ":") } }.map { "\($0): \($1)\n" }
            .joined()
        try folder.write("campaign.yaml", example.yaml + rest)
        let checked = try folder.check()
        #expect(checked.errors == example.message ?? "")
        #expect((checked.status == 0) == (example.message?.contains(": warning: ") ?? true), "\(checked.errors)")
    }
}
