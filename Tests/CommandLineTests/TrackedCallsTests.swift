import Base
import Foundation
import TestCommands
import Testing

/// A campaign with `track: true` through a service whose calls carry one text for many devices,
/// against its simulator.
@Suite("calls of a tracked campaign")
struct TrackedCallsTests {
    /// Sends to 300 devices, of which those of the second variant have the text that the first one
    /// gives to nine of ten.
    /// - Returns: how many requests the simulator inside the run counted, and what the next preview
    ///   says.
    private func send(track: Bool) throws -> (requests: String, preview: String) {
        let rows = (0..<300).map { "1a0018970a8d0000\(100 + $0),\($0 % 10 == 0 ? "gold" : "")\n" }.joined()
        let folder = try ProjectFolder(export: "jpush_id,tier\n" + rows)
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                service: jpush
                app_key: 0123456789abcdef01234567
                environment: simulator
                columns: {token: jpush_id}
            """)
        try folder.write(
            "campaign.yaml",
            """
            name: spring
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content:
              title: Spring sale
              body: "{% if tier == 'gold' %}30 % off.{% else %}20 % off.{% endif %}"
              link: https://example.com/sale
            variants: {usual: {share: 50}, plain: {share: 50, content: {body: 20 % off.}}}
            delivery: {track: \(track)}
            """)
        let sent = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 0, "\(sent)")
        let text = sent.errors + sent.output
        let match = try #require(text.firstMatch(of: /ledger: ([0-9,]+) requests, 300 devices accepted/), "\(text)")
        return (String(match.output.1), try folder.volley("preview", "campaign.yaml", "--json").output)
    }

    @Test("as many leave as without tracking, also where devices of two variants have the same text")
    func requests() throws {
        let plain = try send(track: false), tracked = try send(track: true)
        #expect(plain.requests == tracked.requests)
        #expect(!plain.preview.contains("\"volley\"") && tracked.preview.contains("00000000-000000-spring-0000"))
    }
}
