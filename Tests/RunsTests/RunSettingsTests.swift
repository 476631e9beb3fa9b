import Base
import PushServices
import TestSupport
import Testing

@testable import Runs

@Suite("settings that a plan freezes")
struct RunSettingsTests {
    private static func full() -> RunSettings {
        settings {
            $0.firstService.environment = .server(host: "::1", port: 2197, certificateAuthority: "/etc/ca.pem")
            $0.firstService.credential = key
            $0.expiry = .after(seconds: 14400)
            $0.collapseID = "sale"
            $0.firstService.pace = Pace(pushes: 300_000, intervalSeconds: 60)
            $0.firstService.appPace = Pace(pushes: 9_000, intervalSeconds: 1)
            $0.unknownPolicy = .skip
            $0.stopLimits = StopLimits()
            $0.stopLimits?.shares = [
                .rejected: StopShare(millionths: 5_000), .invalidToken: StopShare(millionths: 200_000),
            ]
            $0.stopLimits?.after = 500
            $0.schedule = FrozenSchedule(
                Schedule(
                    at: LocalTime("2026-12-01 09:00"), zone: .named(.utc), quietHours: try? QuietHours("21:00-08:00")),
                nil)
            $0.schedule?.late = .skip(afterSeconds: 3600)
            $0.schedule?.planning = Timestamp(epochSeconds: 100)..<Timestamp(epochSeconds: 112)
            $0.frequencyCaps = [FrequencyCap(pushes: 2, seconds: 604_800), FrequencyCap(pushes: 1, seconds: 3600)]
            $0.needsApproval = true
            $0.runsFolder = "/runs"
            $0.parentEpoch = "1f"
            $0.retriedOutcomes = [.unknown, .failed]
            $0.realCampaignFile = "/campaigns/sale.yaml"
            $0.isOfScheduler = true
            $0.place = EpochSequence.Place(number: 7, epoch: "2e")
            $0.plannedInStore = Timestamp(epochMilliseconds: 5_250)
            $0.beside = ["20261201-090000-sale-0001"]
        }
    }

    private static let key = FrozenCredential(
        form: "key", values: ["file": "/keys/a.p8", "id": "ABC123DEFG", "team": "DEF123GHIJ"])
    private static let certificate = FrozenCredential(
        form: "certificate", values: ["file": "/keys/a.p12", "passphrase_env": "SECRET"])

    @Test("come back from the run file as they went in")
    func roundTrip() throws {
        for original in [
            Self.full(), settings(), settings { $0.expiry = .immediately },
            settings { $0.expiry = .at(Timestamp(epochSeconds: 5)) },
            settings { $0.firstService.environment = .production },
            settings { $0.firstService.environment = .simulator },
        ] {
            let copy = try RunSettings(json: original.json, runFile: "x.sqlite")
            #expect(copy == original)
            let folder = try TemporaryFolder()
            var plan = plan("run", audience: 1)
            plan.settings = .success(original)
            let writer = try RunWriter(folder: folder.path, id: "run")
            try writer.put(recipient(0), at: 0)
            let run = try writer.finish(plan)
            run.close()
            #expect(try run.plan.settings.get() == original)
            #expect(try RunFile(path: run.path).plan.settings.get() == original)
        }
    }

    @Test("are stored in the notation that files of every version hold")
    func notation() {
        #expect(
            settings().json.text
                == #"{"environment":"sandbox","topic":"com.example.shop","key":null,"certificate":null,"push_type":"alert","priority":10,"#
                + #""expires":null,"collapse":null,"pace":null,"app_pace":null,"unknown":"resend","stop_when":null,"schedule":null,"#
                + #""frequency":[],"approval":"none","rendering":5,"runs":null,"parent_life":null,"retried_outcomes":null,"#
                + #""campaign_file":null,"scheduler":false,"place":null,"beside":[],"service":"apns"}"#)
        #expect(
            Self.full().json.text
                == #"{"environment":{"host":"::1","port":2197,"ca":"/etc/ca.pem"},"topic":"com.example.shop","#
                + #""key":{"file":"/keys/a.p8","id":"ABC123DEFG","team":"DEF123GHIJ","fingerprint":null},"#
                + #""certificate":null,"push_type":"alert","priority":10,"#
                + #""expires":{"after_seconds":14400},"collapse":"sale","pace":{"pushes":300000,"seconds":60},"#
                + #""app_pace":{"pushes":9000,"seconds":1},"unknown":"skip","#
                + #""stop_when":{"millionths":{"invalid_token":200000,"rejected":5000},"after":500},"#
                + #""schedule":{"occurrence":null,"timezone":"UTC","quiet_hours":"21:00-08:00","late_seconds":3600,"#
                + #""planning_ms":[100000,112000]},"frequency":[{"pushes":2,"seconds":604800},{"pushes":1,"seconds":3600}],"#
                + #""approval":"required","rendering":5,"runs":"/runs","parent_life":"1f","retried_outcomes":["failed","unknown"],"#
                + #""campaign_file":"/campaigns/sale.yaml","scheduler":true,"place":{"number":7,"life":"2e"},"#
                + #""beside":["20261201-090000-sale-0001"],"service":"apns","planned_in_store":5250}"#)
    }

    @Test(
        "have the same digest of their source before and after a plan notes when, where and next to which runs it was made"
    )
    func sourceDigest() {
        let planned = Self.full()
        var source = planned
        (source.schedule, source.runsFolder, source.realCampaignFile) = (nil, nil, nil)
        (source.place, source.plannedInStore, source.beside, source.isOfScheduler) = (nil, nil, [], false)
        #expect(source.sourceDigest(with: "name: sale") == planned.sourceDigest(with: "name: sale"))
        #expect(source.sourceDigest(with: "name: sales") != planned.sourceDigest(with: "name: sale"))
        source.collapseID = "other"
        #expect(source.sourceDigest(with: "name: sale") != planned.sourceDigest(with: "name: sale"))
    }

    @Test("hold the credential in the notation of its form, as files of every version do")
    func credentials() throws {
        func member(_ change: (inout RunSettings) -> Void) throws -> String {
            let original = settings(change)
            #expect(try RunSettings(json: original.json, runFile: "x.sqlite") == original)
            return original.json.text
        }
        let keyText = #""key":{"file":"/keys/a.p8","id":"ABC123DEFG","team":"DEF123GHIJ","fingerprint":"#
        let certificateText = #""certificate":{"file":"/keys/a.p12","passphrase_env":"#
        #expect(
            try member { $0.firstService.credential = Self.key }.contains(
                keyText + #"null},"certificate":null,"push_type""#))
        #expect(
            try member {
                $0.firstService.credential = Self.key
                $0.firstService.credential?.fingerprint = "ab"
            }.contains(keyText + #""ab"},"certificate":null,"push_type""#))
        #expect(
            try member { $0.firstService.credential = Self.certificate }.contains(
                #""key":null,"# + certificateText + #""SECRET"},"push_type""#))
        #expect(
            try member {
                $0.firstService.credential = Self.certificate
                $0.firstService.credential?.values["passphrase_env"] = nil
            }.contains(certificateText + "null}"))
    }

    @Test("of a service with other credentials hold those, and a credential that lacks a value is none")
    func accounts() throws {
        let service = OtherService.robots
        var original = settings { $0.firstService.environment = .production }
        original.firstService.serviceName = service.name
        original.firstService.credential = FrozenCredential(
            form: "robot_account", values: ["env": "SHOP_ROBOT", "region": "eu"])
        let text = original.json(of: [service]).text
        let member = #""robot_account":{"file":null,"env":"SHOP_ROBOT","region":"eu"}"#
        #expect(text.contains(#""topic":"com.example.shop","# + member + #","push_type":"alert""#))
        func read(_ text: String) throws -> RunSettings {
            try RunSettings(json: try JSONValue(parsing: text), runFile: "x.sqlite", services: [service])
        }
        #expect(try read(text) == original)
        #expect(try read(text.replacing(#""env":"SHOP_ROBOT""#, with: #""env":null"#)).firstService.credential == nil)
        #expect(try read(text.replacing(#""region":"eu""#, with: #""region":null"#)).firstService.credential == nil)
        #expect(throws: Diagnostic.self) { try RunSettings(json: original.json(of: [service]), runFile: "x.sqlite") }
    }

    @Test("name the switches of a service that are on, and are unreadable for a version that knows them not")
    func switches() throws {
        let service = try #require(PushServices.named("getui"))
        let plain = settings {
            $0.firstService.serviceName = service.name
            $0.firstService.environment = .named(service.account.environments.choices[0])
            $0.firstService.credential = nil
        }
        var listing = plain
        listing.firstService.switchedOn = ["lists"]
        func read(_ text: String) throws -> RunSettings {
            try RunSettings(json: try JSONValue(parsing: text), runFile: "x.sqlite")
        }
        #expect(
            plain.json.text.contains(#""service":"getui""#) && listing.json.text.contains(#""service":"getui+lists""#))
        #expect(try read(plain.json.text) == plain && read(listing.json.text) == listing)
        #expect(listing.service.switchedOn == ["lists"] && plain.service.switchedOn.isEmpty)
        #expect(listing.listName == plain.listName)
        for name in ["getui+more", "getui+", "apns+lists"] {
            #expect(throws: Diagnostic.self) { try read(listing.json.text.replacing("getui+lists", with: name)) }
        }
    }

    @Test("have no member twice, whatever a service calls its credentials")
    func members() throws {
        for service in PushServices.all {
            guard case .object(let members) = settings({ $0.firstService.serviceName = service.name }).json else {
                continue
            }
            #expect(Set(members.map(\.name)).count == members.count, "\(service.name)")
        }
    }

    @Test(
        "of older versions name no service, and go to the one that there was; a service that nobody knows cannot be read"
    )
    func service() throws {
        let text = settings().json.text
        func read(_ change: (String) -> String) throws -> RunSettings {
            try RunSettings(json: try JSONValue(parsing: Array(change(text).utf8)), runFile: "x.sqlite")
        }
        #expect(try read { $0.replacing(#","service":"apns""#, with: "") } == settings())
        #expect(try read { $0 }.service.displayName == "APNs")
        #expect(throws: Diagnostic.self) {
            try read { $0.replacing(#""service":"apns""#, with: #""service":"nobody""#) }
        }
        #expect(throws: Diagnostic.self) {
            try read { $0.replacing(#""environment":"sandbox""#, with: #""environment":"nowhere""#) }
        }
    }

    @Test("that cannot be read name the run file")
    func damaged() throws {
        #expect(throws: Diagnostic.self) { try RunSettings(json: .object([]), runFile: "x.sqlite") }
    }

    @Test(
        "that cannot be read keep nobody from listing the run, and are neither used nor stored again",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func listed() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 3)
        run.close()
        #expect(query(run.path, "UPDATE run SET settings = replace(settings, ':10,', ':7,')").isEmpty)
        let found = try RunsFolder(folder.path).list()
        #expect(found.broken.isEmpty && found.runs.map(\.plan.id) == ["run"])
        let plan = try #require(found.runs.first?.plan)
        let mistake = try #require(diagnostic { _ = try plan.settings.get() })
        #expect(mistake.message == "the run file's setting 'priority' cannot be read" && mistake.file == run.path)
        let writer = try RunWriter(folder: folder.path, id: "again")
        for number in 0..<3 { try writer.put(recipient(number), at: number) }
        var copy = plan
        copy.id = "again"
        #expect(diagnostic { _ = try writer.finish(copy) } == mistake)
        #expect(try RunsFolder(folder.path).list().runs.map(\.plan.id) == ["run"])
    }
}
