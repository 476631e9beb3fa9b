import Base
import Foundation
import TestCommands
import Testing

/// The suites of this folder go through the rules of the campaign language one by one, in the
/// language's own words, with the stages that `volley check` and `volley preview` call. Rules that
/// other suites test in more detail are tested here, too: to find out whether a rule holds, look
/// for its name.
///
/// Rules of `schedule` have their own suite, and rules that are about sending are in
/// CommandLineTests.
struct RuleFolder {
    let folder: ProjectFolder

    /// A row of an export: the cells by column, apart from the token.
    struct Device {
        var number: Int
        var cells: KeyValuePairs<String, String>

        init(_ number: Int, _ cells: KeyValuePairs<String, String> = [:]) {
            (self.number, self.cells) = (number, cells)
        }
    }

    /// A project whose export contains these devices.
    init(app: String = "environment: simulator\ndevices: devices.csv", _ devices: Device...) throws {
        folder = try ProjectFolder(app: app, export: Self.csv(devices))
    }

    static func csv(_ devices: [Device], token: String = "device_token") -> String {
        var columns: [String] = []
        for device in devices {
            for (column, _) in device.cells where !columns.contains(column) { columns.append(column) }
        }
        let lines = devices.map { device in
            let cells = columns.map { column in device.cells.first { $0.key == column }?.value ?? "" }
            return ([ProjectFolder.token(device.number)] + cells).joined(separator: ",")
        }
        return ([([token] + columns).joined(separator: ",")] + lines).joined(separator: "\n") + "\n"
    }

    /// The preview of a campaign to this audience.
    func preview(
        _ audience: String, content: String = "title: Hello", delivery: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
        try folder.writeCampaign(audience: audience, content: content, delivery: delivery)
        return try preview(sourceLocation: sourceLocation)
    }

    /// The preview of the present campaign.yaml.
    func preview(sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue {
        let result = try folder.preview(samples: 500, isJSON: true)
        try #require(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
        return try result.json()
    }

    /// The numbers of the devices that would get a campaign.
    func recipients(
        _ audience: String, content: String = "title: Hello", sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Set<Int> {
        Self.numbers(try preview(audience, content: content, sourceLocation: sourceLocation))
    }

    /// The numbers of the devices in a preview's samples.
    static func numbers(_ preview: JSONValue) -> Set<Int> {
        guard case .array(let samples)? = preview["samples"] else { return [] }
        return Set(samples.compactMap { Int($0["device_token"]?.stringValue?.suffix(4) ?? "", radix: 16) })
    }

    /// The payload that the first device gets.
    func payload(_ content: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue {
        let preview = try preview("everyone: true", content: content, sourceLocation: sourceLocation)
        guard case .array(let samples)? = preview["samples"], let payload = samples.first?["payload"] else {
            return .null
        }
        return payload
    }

    /// What `check` says about a campaign with a mistake.
    func mistakes(
        audience: String = "everyone: true", content: String = "title: Hello", delivery: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        try folder.writeCampaign(audience: audience, content: content, delivery: delivery)
        return try mistakes(sourceLocation: sourceLocation)
    }

    /// What `check` says about the present campaign.yaml, which has a mistake.
    func mistakes(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let result = try folder.check()
        #expect(result.status == 2, "\(result.output)", sourceLocation: sourceLocation)
        return result.errors
    }
}
