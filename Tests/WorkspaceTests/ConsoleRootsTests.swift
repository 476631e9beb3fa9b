import Base
import Campaigns
import Foundation
import Testing

@testable import Workspace

@Suite("files that the console may name")
struct ConsoleRootsTests {
    @Test("only what lies below the roots, whatever links, patterns and points a path has")
    func holds() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: base) }
        for folder in ["house/exports", "house-of-others", "data"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(folder)", withIntermediateDirectories: true)
        }
        try FilePaths.create("\(base)/house/volley.yaml", bytes: Array("apps: {shop: {topic: a.b, environment: simulator}}\n".utf8))
        try FilePaths.create("\(base)/data/x.csv", bytes: [])
        try FileManager.default.createSymbolicLink(atPath: "\(base)/house/out", withDestinationPath: "\(base)/data")
        func roots(_ console: String = "") throws -> ConsoleRoots {
            try FilePaths.replace(
                "\(base)/house/volley.yaml", bytes: Array(("apps: {shop: {topic: a.b, environment: simulator}}\n" + console).utf8))
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
        #expect(wider.holds("\(base)/house/out/x.csv") && wider.holds("\(base)/data/x.csv") && wider.holds("\(base)/house/a.csv"))
        #expect(!wider.holds("\(base)/house-of-others/x.csv"))
        let none = try roots("console: {roots: [nowhere]}\n")
        #expect(!none.holds("\(base)/house/a.csv"))
    }

    @Test(
        "a pattern or a date that could lead elsewhere is refused",
        arguments: [
            ".?/x.csv", ".[.]/x.csv", ".*/x.csv", "a/.?/x.csv", "{{ date | date: '/tmp/x.csv' }}", "{{ date | date: '..' }}/x.csv",
            "{{ date | date: '.' }}{{ date | date: '.' }}/x.csv", "{{ date | date: \"/etc\" }}", "{{ date | date: '/x",
        ])
    func patterns(path: String) { #expect(!ConsoleRoots.isPlainPattern(path)) }

    @Test(
        "plain patterns and dates are not",
        arguments: ["*.csv", "exports/{{ date | date: '%Y-%m-%d' }}.csv", "../a/*.csv", "./x?.csv", "a.csv", ".hidden.csv"])
    func plain(path: String) { #expect(ConsoleRoots.isPlainPattern(path)) }

    @Test("lists are lists by their endings, and volley.yaml, keys and runs are none")
    func lists() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(atPath: "\(base)/runs", withIntermediateDirectories: true)
        try FilePaths.create("\(base)/volley.yaml", bytes: Array("apps: {shop: {topic: a.b, environment: simulator}}\n".utf8))
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
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("volley-roots-\(UUID().uuidString)").path
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
}
