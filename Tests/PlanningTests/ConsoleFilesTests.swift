import Base
import Campaigns
import Foundation
import Glibc
import PushServices
import Testing
import Workspace

@testable import Planning

@Suite("files that a campaign of the console may name")
struct ConsoleFilesTests {
    @Test("lists are lists by their endings, and volley.yaml, keys and runs are none")
    func lists() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: "\(base)/runs", withIntermediateDirectories: true)
        try FilePaths.create(
            "\(base)/volley.yaml", bytes: Array("apps: {shop: {topic: a.b, environment: simulator}}\n".utf8))
        let roots = ConsoleRoots(try Project.read(file: "\(base)/volley.yaml").0)
        func mistakes(_ audience: String) throws -> Int {
            let draft = Campaign.draft(
                text: "name: x\napp: shop\naudience: \(audience)\ncontent: {title: x}\n", file: "\(base)/x.yaml",
                now: Timestamp(epochSeconds: 0))
            return roots.mistakes(in: try #require(draft.campaign, "\(draft.findings)")).count
        }
        #expect(try mistakes("{devices: a.csv, tags: {file: vip.txt}}") == 0)
        for file in ["AuthKey.p8", "volley.yaml", "secret.key", "x.yaml", "a/key", "runs/orders.sqlite"] {
            #expect(try mistakes("{devices: a.csv, tags: {file: \(file)}}") == 1, "\(file)")
        }
        #expect(try mistakes("{devices: [volley.yaml, 'runs/x.csv', 'runs/*'], everyone: true}") == 3)
    }

    @Test("a campaign may not bring SQL of its own, while that of its app counts")
    func queries() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: true)
        let project = """
            databases: {warehouse: {url_env: WAREHOUSE_URL}}
            apps: {shop: {topic: a.b, environment: simulator, devices: {database: warehouse, query: select 1 as token}}}

            """
        try FilePaths.create("\(base)/volley.yaml", bytes: Array(project.utf8))
        let roots = ConsoleRoots(try Project.read(file: "\(base)/volley.yaml").0)
        func mistakes(_ audience: String) throws -> [Diagnostic] {
            let draft = Campaign.draft(
                text: "name: x\napp: shop\naudience: \(audience)\ncontent: {title: x}\n", file: "\(base)/x.yaml",
                now: Timestamp(epochSeconds: 0))
            return roots.mistakes(in: try #require(draft.campaign, "\(draft.findings)"))
        }
        #expect(try mistakes("{everyone: true}").isEmpty)
        let own = try mistakes("{devices: {database: warehouse, query: select 1 as token}, everyone: true}")
        #expect(own.map(\.message) == ["the console may not put a campaign's own query to a database"])
        #expect(own.first?.position?.description == "\(base)/x.yaml:3:21")
        #expect(own.first?.remedy?.contains("volley.yaml") == true)
    }

    @Test("what a pattern or a date leads to decides: a pattern into the runs, a date that spells a secret")
    func patterns() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: "\(base)/runs", withIntermediateDirectories: true)
        for file in ["runs/x.csv", "secret.txt", "a.csv"] {
            try FilePaths.create("\(base)/\(file)", bytes: Array("token\nSECRET of \(file)\n".utf8))
        }
        try FilePaths.create("\(base)/copy.txt", bytes: Array("token\nSECRET of secret.txt\n".utf8))
        let project = """
            apps:
              shop:
                devices: a.csv
                services: {jpush: {app_key: 0123456789abcdef01234567, environment: simulator, master_secret: {file: secret.txt}}}

            """
        try FilePaths.create("\(base)/volley.yaml", bytes: Array(project.utf8))
        func mistakes(_ audience: String) throws -> [String] {
            let text = "name: x\napp: shop\naudience: \(audience)\ncontent: {title: x}\n"
            var campaign = CampaignFile("\(base)/x.yaml", text: text)
            campaign.isConfined = true
            return check(campaign, at: .now()).errors.map(\.message)
        }
        for audience in [
            "{everyone: true, devices: 'run[s]/x.csv'}", "{everyone: true, devices: '*/x.csv'}",
            "{everyone: true, devices: '*/*.csv'}",
            "{aliases: {file: \"{{ date | date: 'secret' }}.txt\"}}", "{aliases: {file: secret.txt}}",
            "{aliases: {file: ./secret.txt}}", "{aliases: {file: copy.txt}}",
            "{everyone: true, exclude: {devices: 'c*.txt'}}",
            "{everyone: true, exclude: {devices: 's*.txt'}}", "{tags: {none: {file: secret.txt}, any: [a]}}",
            "{everyone: true, exclude: {registration_ids: {file: secret.txt}}}",
        ] {
            let found = try mistakes(audience)
            #expect(found.contains { $0.hasPrefix("the console may not use the file") }, "\(audience): \(found)")
            #expect(!found.description.contains("SECRET"))
        }
        let good = try mistakes("{everyone: true, devices: 'a*.csv'}")
        #expect(!good.contains { $0.hasPrefix("the console may not") }, "\(good)")
    }

    @Test(
        "a record that Volley keeps keeps its locks, whatever names it by a link: a list, an export, a pattern, a key, a payload",
        arguments: [
            "{everyone: true, devices: LINK}", "{everyone: true, devices: 'har?.csv'}",
            "{everyone: true, devices: [a.csv, LINK]}",
            "{aliases: {file: LINK}}", "{tags: {file: LINK}}", "{tags: {none: {file: LINK}}}",
            "{registration_ids: {file: LINK}}",
            "{everyone: true, exclude: {devices: LINK}}", "{everyone: true, exclude: {devices: '*ard.csv'}}",
            "{everyone: true, exclude: {tags: {file: LINK}}}",
            "{everyone: true, exclude: {registration_ids: {file: LINK}}}",
        ], ["hard.csv", "runs/schedule.sqlite", "soft.csv"])
    func locks(audience: String, name: String) throws {
        try Self.withLockedRecord { base in
            let text = "name: x\napp: shop\naudience: \(audience.replacing("LINK", with: name))\ncontent: {title: x}\n"
            let file = "\(base)/x.yaml"
            for isConfined in [false, true] {
                var campaign = CampaignFile(file, text: text)
                campaign.isConfined = isConfined
                let errors = check(campaign, at: .now()).errors
                let words =
                    isConfined ? "the console may not use the file" : "this is a record that Volley keeps, not a file"
                let found = errors.first { $0.message.contains(words) }
                #expect(found?.position?.file == file && found?.position?.line == 3, "\(errors)")
            }
        }
    }

    @Test(
        "nor does volley.yaml take them: an export of an app, a key; nor a payload, a campaign or a file that is read whole"
    )
    func otherLocks() throws {
        try Self.withLockedRecord { base in
            let link = "\(base)/hard.csv"
            for app in [
                "shop: {topic: a.b, environment: simulator, devices: hard.csv}",
                "shop: {topic: a.b, environment: simulator, devices: a.csv, key: {file: hard.csv, id: ABC123DEFG, team: DEF123GHIJ}}",
            ] {
                try FilePaths.replace("\(base)/volley.yaml", bytes: Array("apps:\n  \(app)\n".utf8))
                let text = "name: x\napp: shop\naudience: {everyone: true}\ncontent: {title: x}\n"
                let errors = check(CampaignFile("\(base)/x.yaml", text: text), at: .now()).errors
                #expect(
                    errors.contains { $0.message.contains("this is a record that Volley keeps") }, "\(app): \(errors)")
            }
            #expect(throws: Diagnostics.self) { try ContentNode.read(payloadFile: link, for: PushServices.standard) }
            #expect(throws: Diagnostics.self) { try Campaign.read(file: link, now: .now()) }
            #expect(throws: Diagnostic.self) { try FilePaths.read(link) }
        }
    }

    /// A project whose record of the schedule this process has locked, and links to it. Fails if
    /// the lock is gone afterwards.
    private static func withLockedRecord(_ body: (_ base: String) throws -> Void) throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: "\(base)/runs", withIntermediateDirectories: true)
        let project = "apps: {shop: {topic: a.b, environment: simulator, devices: a.csv}}\n"
        try FilePaths.create("\(base)/volley.yaml", bytes: Array(project.utf8))
        try FilePaths.create("\(base)/a.csv", bytes: Array("token\n".utf8))
        let record = "\(base)/runs/schedule.sqlite"
        let descriptor = open(record, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(link(record, "\(base)/hard.csv") == 0 && symlink("hard.csv", "\(base)/soft.csv") == 0)
        // Source: lockf(3): it is a lock of fcntl(2), as SQLite's are.
        try #require(lockf(descriptor, F_TLOCK, 0) == 0)
        func isLocked() throws -> Bool {
            try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8).contains("POSIX")
        }
        try #require(try isLocked())
        _ = try Project.read(file: "\(base)/volley.yaml").0.catalog(ProjectChoice())
        try body(base)
        #expect(try isLocked(), "its lock is gone")
    }
}
