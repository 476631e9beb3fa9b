import Base
import Foundation
import PushServices
import TestCommands
import Testing

@testable import Planning

/// What makers of phones do with marketing, as check and preview say it. Nothing is sent, so no
/// server is needed.
@Suite("warnings about makers of phones")
struct MakerWarningTests {
    private static let classes =
        "services: {jpush: {makers: {xiaomi: {channel: '12'}, oppo: {category: MARKETING}, vivo: {category: MARKETING}}, "
        + "harmony: {category: MARKETING}}}"

    /// A project whose app goes to a server of JPush, with five devices.
    private func project(
        _ content: String = classes, schedule: String = "", delivery: String = "", export: String? = nil,
        environment: String? = nil
    ) throws -> ProjectFolder {
        let rows = (0..<5).map { "1a0018970a8d000000\($0),\($0)@x" }.joined(separator: "\n")
        let folder = try ProjectFolder(export: export ?? "registration_id,alias\n\(rows)\n")
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                service: jpush
                app_key: 7d431e42dfa6a6d693ac2d04
                environment: \(environment ?? "{url: \"https://localhost:9\"}")
                master_secret: {file: jpush.txt}
                devices: devices.csv
                columns: {token: registration_id}
            """)
        try folder.write("jpush.txt", "0123456789abcdef01234567\n")
        chmod(folder.url.appendingPathComponent("jpush.txt").path, 0o600)
        try folder.write(
            "campaign.yaml",
            """
            name: sale
            app: shop
            audience: {everyone: true}
            content: {title: Hi, body: Sale\(content.isEmpty ? "" : ", " + content)}
            \(schedule.isEmpty ? "" : "schedule: {\(schedule)}")
            \(delivery.isEmpty ? "" : "delivery: {\(delivery)}")
            """)
        return folder
    }

    @Test("a push without the class that makers demand is named, with what to write, which ends the warning")
    func lackedClasses() throws {
        let found = try project("").check().errors
        #expect(
            found.contains(
                "campaign.yaml:4:10: warning: JPush gets no category for OPPO, vivo and HarmonyOS and no channel for Xiaomi, so these phones may "
                    + "show no push. Write below 'content', with the ids that makers gave the app: services: {jpush: {makers: {xiaomi: "
                    + "{channel: ID}, oppo: {category: MARKETING}, vivo: {category: MARKETING}}, harmony: {category: MARKETING}}}. If the app "
                    + "has no such phones, allow the warning. [maker-category]"),
            "\(found)")
        let remedy =
            "services: {jpush: {makers: {xiaomi: {channel: ID}, oppo: {category: MARKETING}, vivo: {category: MARKETING}}, "
            + "harmony: {category: MARKETING}}}"
        let followed = try project(remedy).check()
        #expect(followed.status == 0 && !followed.errors.contains("maker-category"), "\(followed)")
        let some = try project(
            "services: {jpush: {makers: {xiaomi: {channel: '1'}, vivo: {category: A}}, harmony: {category: A}}}"
        ).check()
        #expect(some.errors.contains("JPush gets no category for OPPO, so these phones"), "\(some)")
        let byHand = try project(
            "services: {jpush: {options: {third_party_channel: {xiaomi: {channel_id: '1'}, oppo: {category: A}, vivo: {category: A}}}, "
                + "harmony: {category: A}}}"
        ).check()
        #expect(byHand.status == 0 && !byHand.errors.contains("maker-category"), "\(byHand)")
        #expect(
            try !project("", environment: "simulator").check().errors.contains("maker-"),
            "no phone gets what a simulator gets")
    }

    @Test("a rule that goes out more often than phones show marketing is warned of, until the campaign caps it")
    func repeats() throws {
        let daily = "timezone: Asia/Shanghai, repeat: '0 8,12,18 * * *'"
        let found = try project(schedule: daily).check().errors
        #expect(
            found.contains(
                "campaign.yaml:5:22: warning: 'repeat' goes out 3 times on a day, and phones of Huawei, Honor, OPPO, vivo and HarmonyOS show 2 "
                    + "marketing pushes of an app a day. Write fewer times in 'repeat', or frequency: at most 2 per day under 'delivery'. "
                    + "[maker-cap]"),
            "\(found)")
        let capped = try project(schedule: daily, delivery: "frequency: at most 2 per day").check()
        #expect(capped.status == 0 && !capped.errors.contains("maker-cap"), "\(capped)")
        #expect(
            try !project(schedule: "timezone: Asia/Shanghai, repeat: '0 8,18 * * *'").check().errors.contains(
                "maker-cap"))
    }

    @Test(
        "a time at night in China, or by the clocks of devices, is warned of",
        arguments: [
            (
                "at: 2030-12-02 03:00, timezone: Asia/Shanghai",
                "5 devices go out between 00:00 and 06:00 in China, when"
            ),
            (
                "at: 2030-12-02 20:00, timezone: Europe/Berlin",
                "5 devices go out between 00:00 and 06:00 in China, when"
            ),
            ("at: 2030-12-02 09:00, timezone: Asia/Shanghai", nil),
            ("at: 2030-12-02 06:00, timezone: Asia/Shanghai", nil),
            ("at: 2030-12-02 03:00, timezone: recipient, fallback_timezone: Asia/Shanghai", "by their clocks, when"),
            ("at: 2030-12-02 03:00, timezone: Asia/Shanghai, quiet_hours: 00:00-06:00", nil),
        ] as [(String, String?)])
    func nights(schedule: String, words: String?) throws {
        let errors = try project(schedule: schedule).preview().errors
        #expect(errors.contains("maker-quiet-hours") == (words != nil), "\(errors)")
        if let words {
            #expect(
                errors.contains(words) && errors.contains("phones of Huawei and Honor may show nothing"), "\(errors)")
        }
    }

    @Test("a remedy for the night is one that can be followed")
    func nightRemedies() throws {
        let shanghai = try project(schedule: "at: 2030-12-02 03:00, timezone: Asia/Shanghai").preview().errors
        #expect(
            shanghai.contains(
                "; quiet_hours: 00:00-06:00 under 'schedule' holds pushes until they end. [maker-quiet-hours]"))
        let berlin = try project(schedule: "at: 2030-12-02 20:00, timezone: Europe/Berlin").preview().errors
        #expect(berlin.contains("Choose another time, or a faster pace. [maker-quiet-hours]"))
    }

    // MARK: - Values

    private func content(_ yaml: String) throws -> MessageContent {
        var content = MessageContent(position: SourcePosition(file: "c", line: 1, column: 1))
        guard case .object(let groups) = try JSONValue(parsing: yaml) else { return content }
        func node(_ value: JSONValue) -> ContentNode {
            switch value {
            case .object(let members):
                .object(
                    members.map { ContentMember(SourceText($0.name, at: content.position), node($0.value)) },
                    content.position)
            case .integer(let number): .integer(number, content.position)
            default: .text(SourceText(value.stringValue ?? "", at: content.position))
            }
        }
        content.own = groups.map { ContentMember(SourceText($0.name, at: content.position), node($0.value)) }
        return content
    }

    @Test(
        "the class that a campaign names decides how much a phone shows in a day",
        arguments: [
            ("{}", "3 Meizu, 2 Huawei Honor OPPO vivo, 1 Xiaomi"),
            (
                #"{"makers":{"xiaomi":{"channel":"1"}},"harmony":{"category":"MARKETING"}}"#,
                "5 Xiaomi, 3 Meizu, 2 Huawei Honor OPPO vivo HarmonyOS"
            ),
            (
                #"{"makers":{"huawei":{"category":"FINANCE"},"honor":{"importance":"normal"},"oppo":{"category":"ORDER"},"vivo":{"classification":"system"}},"harmony":{"category":"FINANCE"}}"#,
                "3 Meizu, 1 Xiaomi"
            ),
            (
                #"{"makers":{"huawei":{"category":"marketing"},"oppo":{"category":"NEWS"}}}"#,
                "3 Meizu, 2 Huawei Honor OPPO vivo, 1 Xiaomi"
            ),
            (#"{"options":{"classification":1}}"#, ""),
            (
                #"{"options":{"third_party_channel":{"vivo":{"classification":1},"honor":{"importance":"NORMAL"},"xiaomi":{"channel_id":"1"}}}}"#,
                "5 Xiaomi, 3 Meizu, 2 Huawei OPPO"
            ),
        ])
    func caps(yaml: String, expected: String) throws {
        let caps = MakerLint.caps(of: [(try content(yaml), JPush())])
        #expect(caps.map { "\($0.pushes) \($0.phones.joined(separator: " "))" }.joined(separator: ", ") == expected)
    }

    @Test("makers show no Live Activity, so nothing is lacking")
    func activity() throws {
        let folder = try project("")
        try folder.write(
            "campaign.yaml",
            "name: sale\napp: shop\naudience: {everyone: true}\nactivity: {event: update, state: {a: 1}}\n")
        #expect(try folder.check().errors.isEmpty)
    }

    @Test("options of JPush say nothing of pushes through another service")
    func ownOptions() throws {
        let classes = try content(#"{"options":{"classification":1}}"#)
        #expect(MakerLint.caps(of: [(classes, Getui())]).count == 3 && MakerLint.caps(of: [(classes, JPush())]).isEmpty)
    }

    @Test("devices that got as much as a phone shows today are counted for each number")
    func facts() throws {
        let caps = MakerLint.caps(of: [(try content("{}"), JPush())])
        let facts = MakerLint.facts([1: 1204, 2: 1796], of: 5000, caps)
        #expect(
            facts.map(\.message) == [
                "of these 5,000 devices, today in China 3,000 got a push of the app or more, all that phones of Xiaomi show of its marketing in a "
                    + "day; and 1,204 got 2 pushes of the app or more, all that phones of Huawei, Honor, OPPO and vivo show of its marketing in a day"
            ])
        #expect(facts.map(\.pushes) == [2] && MakerLint.facts([:], of: 5000, caps).isEmpty)
    }

    @Test(
        "a day is one of China",
        arguments: [
            ("2026-12-01T15:59:59Z", "2026-11-30T16:00:00Z"), ("2026-12-01T16:00:00Z", "2026-12-01T16:00:00Z"),
            ("2026-12-02T01:00:00Z", "2026-12-01T16:00:00Z"),
        ])
    func days(moment: String, start: String) throws {
        let moment = try #require(Timestamp(moment)), start = try #require(Timestamp(start))
        #expect(MakerLint.startOfDay(at: moment) == start)
    }

    @Test("sending that lasts into the night counts from there on, and what begins in it until its end")
    func long() throws {
        let zone = try ZoneDatabase.system.zone(named: "Asia/Shanghai"), night = try QuietHours("00:00-06:00")
        func count(_ start: String, _ devices: Int, perSecond: Double?) throws -> Int {
            let departure = PaceLint.Departure(start: try #require(Timestamp(start)), devices: devices, zone: zone)
            return MakerLint.count(at: night, [departure], perSecond: perSecond) { $0.zone }
        }
        // 23:00 to 01:00, and 05:00 to 07:00.
        #expect(try count("2026-12-01T15:00:00Z", 7200, perSecond: 1) == 3600)
        #expect(try count("2026-12-01T21:00:00Z", 7200, perSecond: 1) == 3600)
        #expect(
            try count("2026-12-01T21:00:00Z", 7200, perSecond: nil) == 7200
                && count("2026-12-01T02:00:00Z", 7200, perSecond: nil) == 0)
    }
}
