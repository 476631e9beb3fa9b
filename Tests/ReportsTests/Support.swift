import Base
import Glibc
import Reports
import Runs
import Testing

/// A separate folder below /tmp, removed with its contents.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/volley-reports-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Diagnostic("no temporary folder") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = shell("rm -rf '\(path)'") }
}

/// The standard output and error of a command.
func shell(_ command: String) -> String {
    guard let stream = popen(command + " 2>&1", "r") else { return "" }
    defer { pclose(stream) }
    return String(decoding: readAll(stream), as: UTF8.self)
}

func readAll(_ stream: UnsafeMutablePointer<FILE>) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = fread(&buffer, 1, buffer.count, stream)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
    }
}

let start = Timestamp(epochSeconds: 1_796_115_600)

func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
}

func settings(_ environment: FrozenEnvironment = .production, _ change: (inout RunSettings) -> Void = { _ in })
    -> RunSettings
{
    var settings = RunSettings(environment: environment, topic: "com.example.shop", pushType: .alert, renderingRules: 5)
    change(&settings)
    return settings
}

func makeRun(
    _ folder: TemporaryFolder, id: String = "20261201-090000-spring-sale-7f3a", skipped: [SkipReason: Int] = [:],
    plannedAt: Timestamp = start.adding(seconds: -48), retryOf: String? = nil, isTest: Bool = false,
    preview: JSONValue = .null,
    settings: RunSettings = settings(), project: String = "", _ recipients: [Recipient]
) throws -> RunFile {
    let writer = try RunWriter(folder: folder.path, id: id)
    for (slot, recipient) in recipients.enumerated() { try writer.put(recipient, at: slot) }
    return try writer.finish(
        RunPlan(
            id: id, campaign: "spring-sale", app: "shop", campaignFile: project + "spring.yaml", campaignSource: "",
            projectFile: project + "volley.yaml",
            seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: plannedAt, planHash: "",
            rows: recipients.count + skipped.values.reduce(0, +),
            audience: recipients.count, skipped: skipped, settings: .success(settings), preview: preview,
            retryOf: retryOf, isTest: isTest))
}

func recipients(_ count: Int) -> [Recipient] {
    (0..<count).map {
        Recipient(token: Target(normalized: token($0)), registrationID: "r\($0)", alias: "a\($0)", language: "en")
    }
}

/// 600 recipients, of which 570 were claimed and 560 answered, with every outcome and odd reasons
/// among them.
func mixedRun(_ folder: TemporaryFolder, ending: RunState = .finished, reason: String = "") throws -> RunFile {
    let run = try makeRun(
        folder, skipped: [.notMatched: 4_123_456, .duplicateToken: 12, .aliasLimit: 3, .renderError: 801],
        recipients(600))
    try run.append(.state(.running, at: start))
    try run.append(.claimed(0..<570, at: start))
    try run.append(.settled([(0..<560).map(mixedSettlement)]))
    try run.append(.settled([[Settlement(recipient: 599, outcome: .unsent, reason: "Expired", settledAt: start)]]))
    if ending != .running {
        try run.append(.state(ending, cause: reason.isEmpty ? nil : .described(reason), at: start.adding(seconds: 221)))
    }
    return run
}

private func mixedSettlement(_ id: Int) -> Settlement {
    let moment = start.adding(seconds: Double(id) / 3)
    func settled(_ outcome: Outcome, _ status: Int, _ reason: String, attempts: Int = 1) -> Settlement {
        Settlement(
            recipient: id, outcome: outcome, status: status, reason: reason, attempts: attempts,
            latencyMilliseconds: status > 0 ? 20 + id % 300 : 0,
            settledAt: moment)
    }
    return switch id {
    case _ where id % 40 == 7: settled(.invalidToken, 410, "Unregistered")
    case _ where id % 100 == 11: settled(.invalidToken, 400, "BadDeviceToken")
    case 300..<305: settled(.failed, 503, "ServiceUnavailable", attempts: 5)
    case 320: settled(.rejected, 418, "Teapot\u{1B}[31m\u{202E}")
    case 350..<353: settled(.unknown, 0, "ConnectionLost", attempts: 2)
    default: settled(.accepted, 200, "")
    }
}

/// Compares with Tests/Snapshots/reports/NAME.txt. A missing snapshot is recorded and fails: a
/// person must look at it.
func expectSnapshot(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation, file: String = #filePath
) {
    let tests = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    let path = "\(tests)/Snapshots/reports/\(name).txt"
    if let stream = fopen(path, "r") {
        defer { fclose(stream) }
        let expected = String(decoding: readAll(stream), as: UTF8.self)
        #expect(text + "\n" == expected, "differs from \(path)", sourceLocation: sourceLocation)
        return
    }
    _ = shell("mkdir -p '\(tests)/Snapshots/reports'")
    if let stream = fopen(path, "w") {
        fputs(text + "\n", stream)
        fclose(stream)
    }
    Issue.record("recorded \(path): read it, then run again", sourceLocation: sourceLocation)
}

/// The slow, obvious reader of RFC 4180 that the fast writer is tested against.
func parseCSV(_ bytes: [UInt8]) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    var index = 0
    while index < bytes.count {
        let byte = bytes[index]
        index += 1
        if isQuoted {
            if byte != UInt8(ascii: "\"") { cell.append(byte); continue }
            if index < bytes.count, bytes[index] == byte { cell.append(byte); index += 1 } else { isQuoted = false }
        } else if byte == UInt8(ascii: "\""), cell.isEmpty {
            isQuoted = true
        } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") {
            row.append(String(decoding: cell, as: UTF8.self))
            cell = []
            if byte == UInt8(ascii: "\n") { rows.append(row); row = [] }
        } else {
            cell.append(byte)
        }
    }
    return rows
}

func csv(_ run: RunFile, _ filter: ReportCSV.Filter = ReportCSV.Filter()) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try ReportCSV.write(run, filter) { bytes += $0 }
    return bytes
}
