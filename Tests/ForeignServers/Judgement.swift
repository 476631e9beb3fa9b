import Base
import Foundation
import TestCommands
import Testing

/// A run's report, compared with what the stand-in noted.
struct Judgement {
    /// Recipients by outcome, according to the report.
    let outcomes: JSONValue
    /// Tokens by outcome, according to the report's table.
    private let reported: [String: Set<String>]
    /// How often the stand-in accepted each token.
    private let accepted: [String: Int]
    /// Connections that brought a push to the stand-in.
    let connections: Int
    /// The longest time from a push to its answer, in milliseconds.
    let slowest: Int
    /// Pushes a second, over the whole run.
    let rate: Int

    init(_ site: Site) throws {
        let report = try site.folder.volley("report", "last", "--format", "json")
        try #require(report.status == 0, "\(report.errors)")
        let document = try report.json()
        outcomes = try #require(document["outcomes"])
        slowest = document["latency_ms"]?.int("max") ?? 0
        rate = document["rate"]?.int("mean_per_second") ?? 0
        let table = try site.folder.volley("report", "last", "--format", "csv")
        var reported: [String: Set<String>] = [:]
        for line in table.output.split(separator: "\n").dropFirst() {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            reported[String(cells[5]), default: []].insert(String(cells[0]))
        }
        self.reported = reported
        let entries = site.entries()
        accepted = entries.reduce(into: [:]) { if $1.what == "accepted" { $0[$1.token, default: 0] += 1 } }
        connections = Set(entries.map(\.connection)).count
    }

    private func tokens(_ outcome: String) -> Set<String> { reported[outcome] ?? [] }

    /// Reported as accepted, and not accepted.
    var claimed: Set<String> { tokens("accepted").subtracting(accepted.keys) }
    /// Accepted, and reported as neither accepted nor unknown.
    var denied: Set<String> { Set(accepted.keys).subtracting(tokens("accepted")).subtracting(tokens("unknown")) }
    /// Accepted more than once.
    var doubled: Int { accepted.count { $0.value > 1 } }
    /// Devices about which nothing is known.
    var unknown: Int { tokens("unknown").count }
    /// Whether all devices were accepted, and are reported as accepted.
    func isExact(devices: Int) -> Bool { accepted.count == devices && tokens("accepted") == Set(accepted.keys) }

    /// In one line.
    var summary: String {
        let others = reported.filter { $0.key != "unknown" }.sorted { $0.key < $1.key }.map {
            "\($0.value.count) \($0.key)"
        }
        return
            (others + [
                "\(unknown) unknown", "ledger \(accepted.count)", "\(doubled) doubled", "slowest \(slowest) ms",
                "\(connections) connections",
                "\(rate)/s",
            ]).joined(separator: ", ")
    }
}
