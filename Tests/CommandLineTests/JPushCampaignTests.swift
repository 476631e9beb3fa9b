import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to an app whose service is JPush, against the strict simulator, with the real binary:
/// the report and the simulator's ledger say the same of every device.
@Suite("a campaign over JPush")
struct JPushCampaignTests {
    /// A simulator of JPush, its secret, and a folder with an app that goes to it.
    final class Bench {
        /// The simulator's data about a device.
        struct Entry {
            var target: String
            var status: Int
            /// The number of the push, the same for all devices of a call that was accepted.
            var message: String
        }

        let folder: ProjectFolder
        private let simulator: SimulatorProcess

        /// - Parameters:
        ///   - firstDigits: the first digits of the devices' ids, by their number; they decide the
        ///     simulator's answers.
        ///   - faults: options of `volley simulate`.
        init(devices: Int, firstDigits: [Int: String] = [:], faults: [String] = []) throws {
            simulator = try SimulatorProcess("jpush", faults)
            folder = try ProjectFolder(
                export: "jpush_id,first_name\n"
                    + (0..<devices).map { "\(Self.id($0, after: firstDigits[$0] ?? "")),Name\($0)\n" }.joined())
            try simulator.introduce(to: folder)
            try writeProject()
            try folder.writeCampaign()
        }

        /// Replaces the simulator by an empty one at the same address.
        func restart(_ faults: [String] = []) throws { try simulator.restart(faults, for: folder) }

        func writeProject(secret: String = "{file: secret.txt}", columns: String = "token: jpush_id", more: String = "")
            throws
        {
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    service: jpush
                    app_key: 0123456789abcdef01234567
                    environment: {url: "\(simulator.url)", ca: ca.pem}
                    master_secret: \(secret)
                    columns: {\(columns)}
                    \(more)
                """)
        }

        /// The requests that the simulator got, once it has ended.
        func entries() throws -> [Entry] {
            try simulator.ledger().map { entry in
                Entry(
                    target: entry["target"]?.stringValue ?? "", status: entry.int("status") ?? 0,
                    message: entry["msg_id"]?.stringValue ?? "")
            }
        }

        /// A registration id, different for each number.
        static func id(_ number: Int, after digits: String = "") -> String {
            let end = String(number), start = digits.isEmpty ? "1a0018970a8d" : digits
            return start + String(repeating: "0", count: 19 - start.utf8.count - end.utf8.count) + end
        }
    }

    @Test("a Live Activity goes to 2,500 devices in four calls, the first hundred in one of them, which JPush takes")
    func activity() throws {
        let bench = try Bench(devices: 2500)
        try bench.folder.write(
            "campaign.yaml",
            """
            name: delivery
            app: shop
            audience: {devices: devices.csv, everyone: true}
            activity:
              event: start
              attributes_type: DeliveryAttributes
              attributes: {order: "7"}
              state: {minutes: 12}
              stale: 30min
            content: {title: On its way, body: 12 minutes left}
            """)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 2500, "\(sent)")
        let entries = try bench.entries()
        #expect(
            entries.count == 2500 && entries.allSatisfy { $0.status == 200 } && Set(entries.map(\.message)).count == 4)
    }

    @Test("5,000 devices of one text are a few calls, every device gets it once, and report and ledger agree")
    func all() throws {
        let bench = try Bench(devices: 5000)
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 5000, "\(sent)")
        #expect(Date().timeIntervalSince(start) < 30)
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(csv.contains("jpush_request_id"), "\(csv.prefix(300))")
        let refreshed = try bench.folder.volley("report", "last", "--refresh").output
        #expect(refreshed.contains(/5,000 received over JPush's own channel/), "\(refreshed)")
        let entries = try bench.entries()
        #expect(
            entries.count == 5000 && Set(entries.map(\.target)).count == 5000 && entries.allSatisfy { $0.status == 200 }
        )
        #expect((5...20).contains(Set(entries.map(\.message)).count), "\(Set(entries.map(\.message)).count) calls")
    }

    @Test(
        "ids that are none are refused, suppressed if JPush names them, and the others of their call get it",
        arguments: ["both", "none"])
    func mixed(details: String) throws {
        let bench = try Bench(
            devices: 1200, firstDigits: [3: "00001003", 700: "00001003", 701: "00001003", 900: "00001011"],
            faults: ["--error-details", details])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let isNamed = details == "both"
        #expect(sent.status == (isNamed ? 0 : 1), "\(sent)")
        let outcomes = try sent.json()["outcomes"]
        // A device that does not exist counts as reached as long as others of its call exist.
        #expect(
            outcomes?.int("accepted") == 1197 && outcomes?.int(isNamed ? "invalid_token" : "rejected") == 3, "\(sent)")
        let entries = try bench.entries(), accepted = entries.filter { $0.status == 200 }
        #expect(accepted.count == 1197 && Set(accepted.map(\.target)).count == 1197)
        let report = try bench.folder.volley("report", "last").output
        let words =
            isNamed ? /not\s+registration\s+ids\s+of\s+JPush/ : /did\s+not\s+accept\s+a\s+value\s+of\s+these\s+pushes/
        #expect(report.contains("1003") && report.contains(words), "\(report)")
        let again = try bench.folder.volley("plan", "campaign.yaml", "--json")
        #expect(try again.json()["skipped"]?.int("suppressed") ?? 0 == (isNamed ? 3 : 0), "\(again)")
    }

    @Test(
        "a call of which JPush knows no device refuses all of them, and suppresses none: the app may be the wrong one")
    func unknown() throws {
        let bench = try Bench(
            devices: 40, firstDigits: Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, "00001011") }))
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status != 0 && sent.json()["outcomes"]?.int("invalid_token") == 40, "\(sent)")
        let again = try bench.folder.volley("plan", "campaign.yaml", "--json")
        #expect(
            try again.json()["skipped"]?.int("suppressed") ?? 0 == 0 && again.json().int("audience") == 40, "\(again)")
    }

    @Test("a wrong secret stops the run at its first call, says what to do, and is never shown")
    func wrongSecret() throws {
        let bench = try Bench(devices: 300)
        let secret = "5e987ac6d2e04d95a9d8f0d1"
        try bench.folder.write("secret.txt", secret)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let said = sent.output + sent.errors
        #expect(try sent.status == 3 && sent.json()["outcomes"]?.int("accepted") ?? 0 == 0, "\(sent)")
        #expect(
            said.contains("1004") && said.contains("Check app_key, master_secret and region") && !said.contains(secret),
            "\(sent)")
        try bench.writeProject(secret: "{env: VOLLEY_TEST_NO_JPUSH_SECRET}")
        let missing = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(missing.status == 2 && missing.errors.contains("VOLLEY_TEST_NO_JPUSH_SECRET"), "\(missing)")
        let entries = try bench.entries()
        #expect(entries.count <= 100 && entries.allSatisfy { $0.status == 401 })
    }

    @Test(
        "makers and HarmonyOS get what the campaign says, and devices that got enough today are counted over all campaigns of the app"
    )
    func makers() throws {
        let bench = try Bench(devices: 5)
        let content =
            "title: Hi\nbody: Sale\nservices: {jpush: {makers: {huawei: {category: MARKETING, importance: low}, honor: {importance: low}, "
            + "oppo: {category: MARKETING}, vivo: {category: MARKETING, classification: operational}}, harmony: {category: MARKETING}}}"
        func warnings(_ name: String) throws -> String {
            try bench.folder.writeCampaign(name: name, content: content)
            return try bench.folder.volley("preview", "campaign.yaml", "--json").json()["warnings"]?.text ?? ""
        }
        let before = try warnings("first")
        #expect(!before.contains("maker-cap") && before.contains("gets no channel for Xiaomi, so"), "\(before)")
        let first = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try first.status == 0 && first.json()["outcomes"]?.int("accepted") == 5, "\(first)")
        let second = try warnings("second")
        #expect(
            second.contains("today in China 5 got a push of the app or more, all that phones of Xiaomi show"),
            "\(second)")
        #expect(!second.contains("2 pushes"))
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let third = try warnings("third")
        #expect(
            third.contains(
                "5 got 2 pushes of the app or more, all that phones of Huawei, Honor, OPPO, vivo and HarmonyOS show"),
            "\(third)"
        )
        // The remedy leaves them out.
        try bench.folder.writeCampaign(name: "third", content: content, delivery: "frequency: at most 2 per day")
        let capped = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(
            capped.int("audience") == 0 && capped["skipped"]?.int("frequency") == 5
                && capped["warnings"]?.text.contains("maker-cap") == false)
    }

    @Test("each personal text is a call of its own, ten a second")
    func personal() throws {
        let bench = try Bench(devices: 30)
        try bench.folder.writeCampaign(content: "title: Hello {{ first_name }}\nbody: World")
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 30, "\(sent)")
        #expect(Date().timeIntervalSince(start) >= 2.5)
        let entries = try bench.entries()
        #expect(entries.count == 30 && Set(entries.map(\.message)).count == 30)
    }

    @Test(
        "texts that differ from device to device are counted before anything is sent, and a preview says how long that takes"
    )
    func slowTexts() throws {
        let bench = try Bench(devices: 40_000)
        func preview(_ content: String) throws -> (seconds: Int?, warnings: String, text: String) {
            try bench.folder.writeCampaign(content: content)
            let json = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
            guard case .double(let seconds)? = json["seconds_at_pace"] else { return (nil, "", "") }
            return (
                Int(seconds), json["warnings"]?.text ?? "", try bench.folder.volley("preview", "campaign.yaml").output
            )
        }
        let personal = try preview("title: Hello {{ first_name }}\nbody: World"),
            seconds = try #require(personal.seconds)
        // 40,000 calls at 540 a minute are 4,444 s; the number of texts is about right.
        #expect((4100...4445).contains(seconds), "\(seconds)")
        #expect(
            personal.warnings.contains("slow-texts")
                && personal.warnings.contains("the same text for all would be 40 calls"), "\(personal)"
        )
        #expect(
            personal.text.contains(/Time +[0-9,]+ calls, 1 h 1[0-9] min.* at 540\/min \(calls\)/), "\(personal.text)")
        // A pace for devices must not lead to more calls than JPush takes.
        try bench.writeProject(more: "pace: 9000/s")
        #expect(try preview("title: Hello {{ first_name }}\nbody: World").seconds == seconds)
        let same = try preview("title: Hello\nbody: World")
        #expect(same.seconds == 4 && !same.warnings.contains("slow-texts"), "\(same)")
        #expect(same.text.contains("40 calls"), "\(same.text)")
        // Two texts count as two, for any audience.
        let two = try preview("title: \"Hello{% if first_name == 'Name7' %} you{% endif %}\"\nbody: World")
        #expect(two.seconds == 4 && !two.warnings.contains("slow-texts"), "\(two)")
    }

    @Test(
        "devices with the same text share calls wherever they stand in the export, and the preview says how many calls that takes"
    )
    func fewTexts() throws {
        let bench = try Bench(devices: 0)
        let names = (0..<6000).map { ["Berlin", "Paris", "Rome"][$0 % 3] }
        try bench.folder.write(
            "devices.csv",
            "jpush_id,first_name\n" + names.enumerated().map { "\(Bench.id($0.offset)),\($0.element)\n" }.joined())
        try bench.folder.writeCampaign(content: "title: Sale in {{ first_name }}\nbody: Until Sunday")
        let planned = try bench.folder.volley("plan", "campaign.yaml").output
        let calls = try #require(planned.firstMatch(of: /Time +(\d+) calls/).flatMap { Int($0.1) }, "\(planned)")
        #expect((6...9).contains(calls), "\(calls)")
        let sent = try bench.folder.volley("send", "--plan", "last", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 6000, "\(sent)")
        let entries = try bench.entries()
        #expect(entries.count == 6000 && Set(entries.map(\.target)).count == 6000)
        #expect(
            (6...calls).contains(Set(entries.map(\.message)).count),
            "\(Set(entries.map(\.message)).count) calls, not \(calls)")
    }

    @Test("a pace of the campaign or the app counts devices, whatever a call carries; the preview says what it counts")
    func devicePace() throws {
        let bench = try Bench(devices: 1500)
        try bench.folder.writeCampaign(delivery: "pace: 500/s")
        let preview = try bench.folder.volley("preview", "campaign.yaml")
        // 55 devices in a call, nine calls a second.
        #expect(preview.output.contains(/Time +28 calls, 3\.?[0-9]* s at 500\/s \(devices\)/), "\(preview.output)")
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1500, "\(sent)")
        // The first second has at most 500 of them.
        #expect(Date().timeIntervalSince(start) >= 2)
        let entries = try bench.entries(), calls = Dictionary(grouping: entries, by: \.message)
        #expect(entries.count == 1500 && calls.values.allSatisfy { $0.count <= 55 }, "\(calls.values.map(\.count))")
    }

    @Test("a run that was killed, resumed, paused and killed again goes on, and everybody gets it once")
    func killedTwice() throws {
        let bench = try Bench(devices: 60, faults: ["--latency", "200"])
        try bench.folder.writeCampaign(content: "title: Hello {{ first_name }}\nbody: World", delivery: "unknown: skip")
        try bench.folder.kill(
            VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url), seconds: 0.5)
        let again = try VolleyBinary.start(["resume", "last", "--json"], in: bench.folder.url)
        // Those that were lost go out again first; a pause before that makes them unknown.
        try bench.folder.wait(for: again, toSend: 10)
        let paused = try bench.folder.volley("pause", "last")
        #expect(paused.status == 0, "\(paused)")
        usleep(400_000)
        #expect(again.isRunning)
        again.kill()
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(try resumed.status == 0 && resumed.json()["outcomes"]?.int("accepted") == 60, "\(resumed)")
        let taken = try bench.entries().filter { $0.status == 200 }
        #expect(taken.count == 60 && Set(taken.map(\.target)).count == 60)
    }

    @Test("what JPush refuses for now goes out after ten seconds, the whole call")
    func waits() throws {
        let bench = try Bench(devices: 50, firstDigits: [7: "00000503"])
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0 && Date().timeIntervalSince(start) >= 10, "\(sent)")
        let entries = try bench.entries()
        #expect(entries.filter { $0.status == 200 }.count == 50 && entries.filter { $0.status == 503 }.count == 50)
    }

    @Test("device tokens in the column of registration ids are skipped and named")
    func wrongColumn() throws {
        let bench = try Bench(devices: 2)
        let ids = [
            Bench.id(1), String(repeating: "0f", count: 32), "0123abcd-0123-0123-0123-0123456789ab", "", "1a0018",
        ]
        try bench.folder.write("devices.csv", "jpush_id\n" + ids.map { $0 + "\n" }.joined())
        let planned = try bench.folder.volley("plan", "campaign.yaml")
        #expect(planned.output.contains(/device\s+token of APNs/) && !planned.output.contains(ids[1]), "\(planned)")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.json()["outcomes"]?.int("accepted") == 1, "\(sent)")
        #expect(try bench.entries().map(\.target) == [Bench.id(1)])
    }

    @Test(
        "a run that was killed goes on, and everybody gets it once: JPush recognizes the calls that had no answer by their cids"
    )
    func killed() throws {
        let bench = try Bench(devices: 5000, faults: ["--latency", "400"])
        try bench.writeProject(more: "pace: 1000/s")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 1.5)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0, "\(resumed)")
        let outcomes = try bench.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        #expect(outcomes?.int("accepted") == 5000 && outcomes?.sum == 5000, "\(resumed)")
        let accepted = try bench.entries().filter { $0.status == 200 }
        #expect(Set(accepted.map(\.target)).count == 5000)
        // A repeated call gets the answer of the first, and is the same push.
        let messages = Dictionary(grouping: accepted, by: \.target).values.map { Set($0.map(\.message)) }
        #expect(messages.allSatisfy { $0.count == 1 })
    }

    @Test(
        "counts are asked of the account that took the pushes alone, and an answer that knows nothing leaves those that were kept"
    )
    func otherAccount() throws {
        let bench = try Bench(devices: 20)
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        func refresh() throws -> (result: VolleyBinary.Result, said: JSONValue?) {
            let result = try bench.folder.volley("report", "last", "--refresh", "--format", "json")
            return (result, try result.json()["statistics"])
        }
        let first = try refresh()
        #expect(
            first.result.status == 0 && first.said?.text.contains(#""counts":{"jpush_received":20}"#) == true,
            "\(first)")
        #expect(first.said?.text.contains("older") == false)
        let project = try String(contentsOf: bench.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try bench.folder.write(
            "volley.yaml", project.replacing("0123456789abcdef01234567", with: "76543210fedcba9876543210"))
        let other = try refresh()
        #expect(other.result.status == 1 && other.said == first.said, "\(other)")
        #expect(
            other.result.errors.contains(
                "the app_key was 0123456789abcdef01234567 and is 76543210fedcba9876543210 now, and only the account"),
            "\(other)")
        try bench.folder.write("volley.yaml", project.replacing("\n  shop:", with: "\n  store:"))
        let gone = try refresh()
        #expect(
            gone.result.status == 1 && gone.result.errors.contains("the app 'shop' no longer sends through JPush"),
            "\(gone)")
        try bench.folder.write("volley.yaml", project)
        try bench.restart()
        let forgotten = try refresh()
        #expect(
            forgotten.result.status == 0 && forgotten.said?.text.contains(#""counts":{"jpush_received":20}"#) == true,
            "\(forgotten)")
        #expect(forgotten.said?.text.contains(#""older":{"jpush_received":"#) == true, "\(forgotten)")
        let text = try bench.folder.volley("report", "last").output
        #expect(text.contains(/20 received over JPush's own channel\s+as\s+of 20/), "\(text)")
        let page = try bench.folder.volley("report", "last", "--format", "html").output
        #expect(page.contains(/data-value="20">20<\/span> as of 20/), "\(page.suffix(4000))")
    }

    @Test("a stop while cids are fetched says so, with the code, and not that a push was refused")
    func noCids() throws {
        let bench = try Bench(devices: 3)
        try bench.folder.write("secret.txt", "5e987ac6d2e04d95a9d8f0d1")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 3 && !sent.errors.contains("refused the push"), "\(sent)")
        #expect(
            sent.errors.contains(
                "JPush refused to give out cids with 1004 (401). Each call needs a cid, so nothing more was sent."))
        #expect(try bench.entries().isEmpty)
    }

    @Test("doctor has a push validated, and push sends a single one")
    func tools() throws {
        let bench = try Bench(devices: 1)
        let doctor = try bench.folder.volley("doctor", "--json")
        #expect(doctor.status == 0, "\(doctor)")
        let pushed = try bench.folder.volley("push", "--token", Bench.id(1), "--title", "Hi", "--json")
        #expect(try pushed.status == 0 && pushed.json()["outcome"]?.stringValue == "accepted", "\(pushed)")
        let gone = try bench.folder.volley("push", "--token", Bench.id(1, after: "00001011"), "--title", "Hi", "--json")
        #expect(try gone.status == 1 && gone.json()["reason"]?.stringValue == "1011", "\(gone)")
        let none = try bench.folder.volley("push", "--token", Bench.id(1, after: "00001003"), "--title", "Hi", "--json")
        #expect(try none.status == 1 && none.json()["reason"]?.stringValue == "1003", "\(none)")
        #expect(try bench.entries().count == 3, "doctor leaves no push")
        try bench.folder.write("secret.txt", "5e987ac6d2e04d95a9d8f0d1")
        let wrong = try bench.folder.volley("doctor")
        #expect(wrong.status != 0, "\(wrong)")
    }
}
