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
}
