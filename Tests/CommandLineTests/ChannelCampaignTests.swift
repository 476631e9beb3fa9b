import Base
import Foundation
import TestCommands
import Testing

/// Broadcast channels against the strict simulator, with the real binary: one request for all
/// phones of a channel, and no export.
@Suite("a campaign that is broadcast")
struct ChannelCampaignTests {
    private final class Bench {
        let folder: ProjectFolder
        private let simulator: SimulatorProcess

        init(faults: [String] = []) throws {
            simulator = try SimulatorProcess("apns", faults)
            folder = try ProjectFolder()
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent("devices.csv"))
            try simulator.introduce(to: folder)
            try folder.writeProject(
                app: """
                    environment: {url: "\(simulator.url)", ca: ca.pem}
                    key: {file: secret.txt, id: SIMULATOR1, team: VOLLEYTEAM}
                    """)
        }

        func restart() throws { try simulator.restart(for: folder) }

        func create(keeps: String = "nothing") throws -> String {
            let made = try folder.volley("channels", "create", "--keeps", keeps, "--json")
            #expect(made.status == 0, "\(made)")
            return try #require(made.json()["channel"]?.stringValue)
        }

        func campaign(_ channel: String, name: String = "score", delivery: String = "") throws {
            try folder.write(
                "campaign.yaml",
                "name: \(name)\napp: shop\naudience: {channel: \"\(channel)\"}\nactivity: {event: update, state: {home: 2, away: 1}}\n\(delivery)"
            )
        }

        func ledger() throws -> [JSONValue] { try simulator.ledger() }
    }

    @Test("channels are made, listed, and deleted for good after a question")
    func channels() throws {
        let bench = try Bench()
        let (first, second) = (try bench.create(), try bench.create(keeps: "newest"))
        let list = try bench.folder.volley("channels", "list", "--json").json()["channels"]
        let keeps = [first: "nothing", second: "newest"]
        let expected = [first, second].sorted().map { #"{"channel":"\#($0)","keeps":"\#(keeps[$0] ?? "")"}"# }.joined(
            separator: ",")
        #expect(list?.text == "[\(expected)]")
        let shown = try bench.folder.volley("channels", "list")
        #expect(
            shown.output.contains("2 channels") && shown.output.contains("\(second)  keeps the newest broadcast"),
            "\(shown)")
        let unasked = try bench.folder.volley("channels", "delete", first)
        #expect(unasked.status == 2 && unasked.errors.contains("Add --yes to delete without a question"), "\(unasked)")
        #expect(try bench.folder.volley("channels", "delete", first, "--yes").status == 0)
        let again = try bench.folder.volley("channels", "delete", first, "--yes")
        #expect(again.status == 2 && again.errors.contains("APNs answered 400 ChannelNotRegistered"), "\(again)")
        #expect(
            try bench.folder.volley("channels", "delete", "a b", "--yes").errors.contains("is not the id of a channel"))
        #expect(try bench.folder.volley("channels", "create", "--keeps", "all").status != 0)
    }

    @Test("a broadcast is one request and one outcome; preview, doctor, report and ledger speak of the channel")
    func sent() throws {
        let bench = try Bench()
        let channel = try bench.create()
        try bench.campaign(channel)
        #expect(try bench.folder.volley("check", "campaign.yaml").status == 0)
        let preview = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(preview.int("audience") == 1 && preview["calls"]?.text.contains(channel) == true)
        let doctor = try bench.folder.volley("doctor")
        #expect(doctor.output.contains("\(channel) exists and keeps nothing"), "\(doctor)")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1, "\(sent)")
        let page = try bench.folder.volley("report", "last", "--format", "html")
        #expect(page.status == 0 && page.output.contains("APNs accepted"), "\(page.output.prefix(3000))")
        #expect(
            try bench.folder.volley("report", "last", "--format", "csv").output.contains(
                "channel/\(channel.dropLast(2))%3D%3D,"))
        // Doctor has asked with a token that no device has.
        let lines = try bench.ledger().filter { $0["token"]?.stringValue?.hasPrefix("0000") != true }
        #expect(
            lines.count == 1 && lines[0]["channel"] == .string(channel) && lines[0].int("status") == 200, "\(lines)")
        #expect(
            lines[0]["push_type"] == .string("liveactivity") && lines[0]["topic"] == .null
                && lines[0]["expiration"] == .string("0"))
    }

    @Test(
        "a channel that is not there stops the run, which a resumption tries again; an expiry that it does not keep stops it, too"
    )
    func stopped() throws {
        let bench = try Bench()
        let channel = try bench.create()
        try bench.campaign(channel, delivery: "delivery: {expires: 1h}\n")
        let expiring = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try expiring.status == 3 && expiring.json()["outcomes"]?.int("unsent") == 1, "\(expiring)")
        #expect(
            expiring.errors.contains("BadExpirationDate") && expiring.errors.contains("remove delivery.expires"),
            "\(expiring)")
        try bench.campaign(channel, name: "score-again")
        try bench.restart()
        let stopped = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try stopped.status == 3 && stopped.json()["outcomes"]?.int("unsent") == 1, "\(stopped)")
        #expect(
            stopped.errors.contains("ChannelNotRegistered") && stopped.errors.contains("volley channels list"),
            "\(stopped)")
        #expect(try bench.folder.volley("resume", "last").status == 3)
        let doctor = try bench.folder.volley("doctor")
        #expect(doctor.status == 2 && doctor.output.contains("ChannelNotRegistered"), "\(doctor)")
    }

    @Test("the simulator inside Volley takes a broadcast to any channel, and has no channels to manage")
    func inside() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "campaign.yaml",
            "name: score\napp: shop\naudience: {channel: dHN0LXNyY2gtY2hubA==}\nactivity: {event: end}\ndelivery: {expires: 1h}\n"
        )
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1, "\(sent)")
        let listed = try folder.volley("channels", "list")
        #expect(listed.status == 2 && listed.errors.contains("keeps no channels"), "\(listed)")
    }
}
