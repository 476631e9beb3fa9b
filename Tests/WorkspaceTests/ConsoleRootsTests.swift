import Base
import Campaigns
import Foundation
import Glibc
import Testing

@testable import Workspace

@Suite("files that the console may name")
struct ConsoleRootsTests {
    @Test("only what lies below the roots, whatever links, patterns and points a path has")
    func holds() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        for folder in ["house/exports", "house-of-others", "data"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(folder)", withIntermediateDirectories: true)
        }
        try FilePaths.create(
            "\(base)/house/volley.yaml", bytes: Array("apps: {shop: {topic: a.b, environment: simulator}}\n".utf8))
        try FilePaths.create("\(base)/data/x.csv", bytes: [])
        try FileManager.default.createSymbolicLink(atPath: "\(base)/house/out", withDestinationPath: "\(base)/data")
        func roots(_ console: String = "") throws -> ConsoleRoots {
            try FilePaths.replace(
                "\(base)/house/volley.yaml",
                bytes: Array(("apps: {shop: {topic: a.b, environment: simulator}}\n" + console).utf8))
            return ConsoleRoots(try Project.read(file: "\(base)/house/volley.yaml").0)
        }
        let usual = try roots()
        for path in ["exports/a.csv", "exports/*.csv", "exports/{date}.csv", "a/b/c.csv", "exports/../b.csv", ""] {
            #expect(usual.holds("\(base)/house/\(path)"), "\(path)")
        }
        for path in [
            "/etc/passwd", "\(base)/house-of-others/x.csv", "\(base)/house/../data/x.csv", "\(base)/house/out/x.csv",
            "\(base)/house/out/*.csv",
            "\(base)/house/*/../../data/x.csv", "\(base)/house/none/../../data/x.csv", "/", "\(base)/*/x.csv",
        ] { #expect(!usual.holds(path), "\(path)") }
        let wider = try roots("console: {roots: [., ../data]}\n")
        #expect(
            wider.holds("\(base)/house/out/x.csv") && wider.holds("\(base)/data/x.csv")
                && wider.holds("\(base)/house/a.csv"))
        #expect(!wider.holds("\(base)/house-of-others/x.csv"))
        let none = try roots("console: {roots: [nowhere]}\n")
        #expect(!none.holds("\(base)/house/a.csv"))
    }

    @Test(
        "a pattern or a date that could lead elsewhere is refused",
        arguments: [
            ".?/x.csv", ".[.]/x.csv", ".*/x.csv", "a/.?/x.csv", "{{ date | date: '/tmp/x.csv' }}",
            "{{ date | date: '..' }}/x.csv",
            "{{ date | date: '.' }}{{ date | date: '.' }}/x.csv", "{{ date | date: \"/etc\" }}", "{{ date | date: '/x",
        ])
    func patterns(path: String) { #expect(!ConsoleRoots.isPlainPattern(path)) }

    @Test(
        "a campaign is closed by every other name: as a copy, as a hard link, in quotes, in braces and with mistakes; a list is not"
    )
    func otherNames() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: "\(base)/lists", withIntermediateDirectories: true)
        try FilePaths.create(
            "\(base)/volley.yaml", bytes: Array("apps: {shop: {topic: a.b, environment: simulator}}\n".utf8))
        try FilePaths.create("\(base)/other.yaml", bytes: Array("settings of another program".utf8))
        #expect(
            link("\(base)/other.yaml", "\(base)/lists/linked.txt") == 0
                && link("\(base)/volley.yaml", "\(base)/lists/volley.txt") == 0)
        let roots = ConsoleRoots(try Project.read(file: "\(base)/volley.yaml").0)
        func objection(_ name: String, _ text: String) throws -> ConsoleRoots.Objection? {
            try FilePaths.replace("\(base)/lists/\(name)", bytes: Array(text.utf8))
            return roots.objection(to: "\(base)/lists/\(name)")
        }
        for name in ["linked.txt", "volley.txt"] {
            #expect(roots.objection(to: "\(base)/lists/\(name)") == .closed, "\(name)")
        }
        for text in [
            "name: secret\napp: bank\naudience: {everyone: true}\ncontent: {title: Hi}\n",
            "app: bank\r\ncontent: {title: [\r\n",
            "{\"name\": \"secret\", \"app\": \"bank\", \"content\": {\"title\": \"Hi\"}}",
            "  name: secret\n  'app': bank\n  \"audience\": {everyone: true}\n",
        ] { #expect(try objection("copy.txt", text) == .closed, "\(text)") }
        for text in [
            "", "app\naudience\ncontent\n", "token,app,content\nabc,shop,x\n", "app: shop\n",
            "{\"token\": \"app\", \"content\": 1}\n",
        ] {
            #expect(try objection("list.txt", text) == nil, "\(text)")
        }
        // Two names of one list are no harm.
        #expect(
            link("\(base)/lists/list.txt", "\(base)/lists/again.txt") == 0
                && roots.objection(to: "\(base)/lists/again.txt") == nil)
    }

    @Test(
        "plain patterns and dates are not",
        arguments: [
            "*.csv", "exports/{{ date | date: '%Y-%m-%d' }}.csv", "../a/*.csv", "./x?.csv", "a.csv", ".hidden.csv",
        ])
    func plain(path: String) { #expect(ConsoleRoots.isPlainPattern(path)) }

    /// A project with everything that a campaign must not name, and the roots of it.
    private static func house(_ base: String) throws -> ConsoleRoots {
        for folder in ["house/exports", "house/runs/console", "house/keys", "house/.archive", "house/old/runs", "etc"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(folder)", withIntermediateDirectories: true)
        }
        for file in [
            "runs/reached-x.csv", "runs/console/x.txt", "keys/oidc.txt", "keys/jpush.txt", "AuthKey.p8", "ca.pem",
            "hooks.txt", "hook.txt",
            "health.json", "fcm.json", ".archive/x.txt", "old/runs/x.csv", "old/volley-backup.json", "other.yaml",
            "exports/a.csv",
            "vip.txt",
        ] { try FilePaths.create("\(base)/house/\(file)", bytes: Array("what is in \(file)".utf8)) }
        try FilePaths.replace(
            "\(base)/house/volley.yaml",
            bytes: Array(
                """
                monitoring: {health: health.json}
                notices: [{command: [sh, ./hook.txt]}]
                console:
                  oidc:
                    issuer: https://login.example.com
                    client_id: volley
                    client_secret: {file: keys/oidc.txt}
                    ca: hooks.txt
                    roles: {claim: groups, map: {m: editor}}
                apps:
                  shop:
                    topic: a.b
                    environment: {url: "https://localhost:1", ca: ca.pem}
                    key: {file: AuthKey.p8, id: ABC123DEFG, team: DEF123GHIJ}
                    services:
                      jpush: {app_key: 0123456789abcdef01234567, environment: simulator, master_secret: {file: keys/jpush.txt}}
                  news:
                    services: {fcm: {project: shop-1a2b, environment: simulator, service_account: {file: fcm.json}}}

                """.utf8))
        return ConsoleRoots(try Project.read(file: "\(base)/house/volley.yaml").0)
    }

    @Test(
        "keys, secrets, certificates, runs, backups, archives and campaigns are closed, by every name, link and hard link"
    )
    func closed() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        let roots = try Self.house(base)
        let house = "\(base)/house"
        for file in ["exports/a.csv", "vip.txt", "exports/not-there.csv", "keys/other.txt"] {
            #expect(roots.objection(to: "\(house)/\(file)") == nil, "\(file)")
        }
        let closed = [
            "volley.yaml", "runs", "runs/reached-x.csv", "runs/console/x.txt", "runs/new.csv", "keys/oidc.txt",
            "keys/jpush.txt",
            "AuthKey.p8",
            "ca.pem", "hooks.txt", "hook.txt", "health.json", "fcm.json", ".archive/x.txt", "old/runs/x.csv",
            "other.yaml", "new.yml",
            "keys/../keys/./oidc.txt", "exports/../runs/reached-x.csv", ".git/config.txt",
        ]
        for file in closed { #expect(roots.objection(to: "\(house)/\(file)") == .closed, "\(file)") }
        try FileManager.default.createSymbolicLink(
            atPath: "\(house)/exports/link.txt", withDestinationPath: "../keys/oidc.txt")
        try FileManager.default.createSymbolicLink(
            atPath: "\(house)/exports/folder", withDestinationPath: "\(house)/runs")
        try FileManager.default.createSymbolicLink(
            atPath: "\(house)/exports/out.txt", withDestinationPath: "/etc/hostname")
        #expect(link("\(house)/keys/jpush.txt", "\(house)/exports/hard.txt") == 0)
        for file in ["exports/link.txt", "exports/folder/reached-x.csv", "exports/hard.txt"] {
            #expect(roots.objection(to: "\(house)/\(file)") == .closed, "\(file)")
        }
        // As Kubernetes mounts a volume.
        try FileManager.default.createDirectory(
            atPath: "\(house)/exports/..2026_12_01", withIntermediateDirectories: true)
        try FilePaths.create("\(house)/exports/..2026_12_01/b.csv", bytes: [])
        try FileManager.default.createSymbolicLink(
            atPath: "\(house)/exports/..data", withDestinationPath: "..2026_12_01")
        try FileManager.default.createSymbolicLink(
            atPath: "\(house)/exports/b.csv", withDestinationPath: "..data/b.csv")
        #expect(roots.objection(to: "\(house)/exports/b.csv") == nil)
        #expect(
            roots.objection(to: "\(house)/exports/out.txt") == .outside
                && roots.objection(to: "/etc/hostname") == .outside)
        let project = try Project.read(file: "\(house)/volley.yaml").0
        let moved = ConsoleRoots(project, ProjectChoice(runs: "\(house)/exports"))
        #expect(moved.objection(to: "\(house)/exports/a.csv") == .closed, "where --runs names them")
    }

    @Test("a copy of a closed file is closed under any name, and so is every file with a key in PEM; a list is not")
    func copies() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        let roots = try Self.house(base)
        let list = "\(base)/house/exports/list.txt"
        func objection(_ bytes: [UInt8]) throws -> ConsoleRoots.Objection? {
            try FilePaths.replace(list, bytes: bytes)
            return roots.objection(to: list)
        }
        for name in ["volley.yaml", "keys/oidc.txt", "keys/jpush.txt", "AuthKey.p8", "ca.pem", "fcm.json", "hook.txt"] {
            let secret = try RegularFile.bytes(of: "\(base)/house/\(name)", atMost: 10_000)
            #expect(try objection(secret) == .closed, "\(name)")
            #expect(try objection(Array(secret.reversed())) == nil, "as long as \(name)")
        }
        let key = "-----BEGIN PRIVATE KEY-----\nMIGTAgEA\n-----END PRIVATE KEY-----\n"
        for text in [key, "u1\nu2\r\n\(key)", "{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIGT\"}"] {
            #expect(try objection(Array(text.utf8)) == .closed, "\(text)")
            #expect(try objection([0xFF, 0xFE] + text.utf8.flatMap { [$0, 0] }) == .closed, "\(text) in UTF-16")
        }
        for text in ["", "u1\n", "----BEGIN\n", "-----\nBEGIN\n"] {
            #expect(try objection(Array(text.utf8)) == nil, "\(text)")
        }
        let opened = try RegularFile(path: list)
        try FilePaths.replace("\(base)/house/keys/oidc.txt", bytes: Array("rotated".utf8))
        #expect(roots.refusal(ofOpened: list, descriptor: opened.descriptor, stamp: opened.stamp) == nil)
        #expect(try objection(Array("rotated".utf8)) == .closed, "as the secret is now")
    }

    @Test(
        "what the volley.yaml of another project names is closed, too: below the roots, above them, or with mistakes",
        arguments: ["house/staging", "house/.staging", "house/a/b/c", "."])
    func otherProjects(place: String) throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        _ = try Self.house(base)
        let other = place == "." ? base : "\(base)/\(place)", lists = "\(base)/house/lists"
        for folder in [other, "\(other)/sruns", lists] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        for file in [
            "\(other)/sruns/reached-x.csv", "\(lists)/jp.txt", "\(lists)/ca.txt", "\(lists)/hook.txt",
            "\(lists)/vip.txt",
        ] {
            try FilePaths.create(file, bytes: Array("what is in \(file)".utf8))
        }
        func roots() throws -> ConsoleRoots { ConsoleRoots(try Project.read(file: "\(base)/house/volley.yaml").0) }
        #expect(try roots().objection(to: "\(lists)/jp.txt") == nil)
        let text = """
            runs: sruns
            monitoring: {health: \(lists)/health.json}
            notices: [{command: [sh, \(lists)/hook.txt]}, {webhook: "https://example.com/x", ca: \(lists)/ca.txt}]
            apps:
              shop:
                services:
                  jpush: {app_key: 0123456789abcdef01234567, environment: simulator, master_secret: {file: \(lists)/jp.txt}}

            """
        for name in ["volley.yaml", "volley.yml"] {
            try FilePaths.create("\(other)/\(name)", bytes: Array(text.utf8))
            let roots = try roots()
            for file in ["jp.txt", "ca.txt", "hook.txt", "health.json"] {
                #expect(roots.objection(to: "\(lists)/\(file)") == .closed, "\(file)")
            }
            #expect(link("\(lists)/jp.txt", "\(lists)/hard.txt") == 0)
            #expect(
                roots.objection(to: "\(lists)/hard.txt") == .closed && roots.objection(to: "\(lists)/vip.txt") == nil)
            #expect(roots.objection(to: "\(other)/sruns/reached-x.csv") == (place == "." ? .outside : .closed))
            for file in ["\(lists)/hard.txt", "\(other)/\(name)"] { try FileManager.default.removeItem(atPath: file) }
        }
        try FilePaths.create("\(other)/volley.yaml", bytes: Array("apps: {".utf8))
        try FilePaths.create("\(other)/x.txt", bytes: Array("x".utf8))
        #expect(
            try roots().objection(to: "\(other)/x.txt") == (place == "." ? .outside : .closed),
            "it is not known what it names")
    }

    @Test("an open file is judged by what was opened, whatever its path leads to by then")
    func opened() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        let roots = try Self.house(base)
        let path = "\(base)/house/vip.txt"
        let harmless = try RegularFile(path: path)
        #expect(roots.refusal(ofOpened: path, descriptor: harmless.descriptor, stamp: harmless.stamp) == nil)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "keys/oidc.txt")
        #expect(
            roots.refusal(ofOpened: path, descriptor: harmless.descriptor, stamp: harmless.stamp) != nil, "it is gone")
        let secret = try RegularFile(path: path)
        try FileManager.default.removeItem(atPath: path)
        try FilePaths.create(path, bytes: Array("vip".utf8))
        let refusal = roots.refusal(ofOpened: path, descriptor: secret.descriptor, stamp: secret.stamp)
        #expect(refusal?.message == "the console may not use the file vip.txt")
    }

    @Test(
        "records that Volley keeps are opened under none of their names, and closed to campaigns; lists among the runs are not theirs",
        arguments: [
            "runs/schedule.sqlite", "runs/orders.sqlite", "runs/sent.db", "runs/sent.db-journal",
            "runs/suppressed-shop.sqlite",
            "runs/a-1.sqlite", "runs/a-1.sqlite-wal", "runs/a-1.sqlite-shm", "runs/a-2.sqlite.partial",
            "runs/console/accounts.sqlite",
            "runs/console/accounts.sqlite-shm",
        ])
    func records(record: String) throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: base) }
        let roots = try Self.house(base)
        let house = "\(base)/house"
        try FilePaths.create("\(house)/\(record)", bytes: Array("x".utf8))
        try FileManager.default.createSymbolicLink(atPath: "\(house)/soft.txt", withDestinationPath: record)
        try FileManager.default.createSymbolicLink(atPath: "\(house)/linked", withDestinationPath: "runs")
        func failure(_ name: String) -> FileError? {
            do throws(FileError) { _ = try RegularFile.bytes(of: "\(house)/\(name)", atMost: 10) } catch {
                return error
            }
            return nil
        }
        let throughFolder = "linked/\(record.dropFirst("runs/".count))"
        for name in [record, "soft.txt", "exports/../\(record)", throughFolder] {
            #expect(failure(name) == .notAFile(.record), "\(name)")
            #expect(roots.objection(to: "\(house)/\(name)") == .closed, "\(name)")
        }
        #expect(link("\(house)/\(record)", "\(house)/exports/hard.csv") == 0)
        try FileManager.default.createSymbolicLink(atPath: "\(house)/both.txt", withDestinationPath: "exports/hard.csv")
        for name in [record, "soft.txt", "exports/hard.csv", "both.txt"] {
            #expect(failure(name) == .notAFile(.record), "\(name)")
            #expect(roots.objection(to: "\(house)/\(name)") == .closed, "\(name)")
        }
        #expect(link("\(house)/vip.txt", "\(house)/again.txt") == 0)
        for name in ["runs/reached-x.csv", "runs/console/x.txt", "vip.txt", "again.txt"] {
            #expect(failure(name) == nil, "\(name)")
        }
        let words = FileKind.record.refusal("both.txt", remedy: "Exports are read twice.").description
        #expect(
            words.hasPrefix("both.txt: this is a record that Volley keeps, not a file. Name another file.")
                && !words.contains("sqlite"))
    }
}
