import Base
import Glibc
import Runs
import Testing

/// A separate folder below /tmp, removed with its contents.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/volley-runs-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Diagnostic("no temporary folder") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = shell("rm -rf '\(path)'") }

    var names: [String] { shell("ls -A '\(path)'").split(separator: "\n").map(String.init).sorted() }
}

/// The standard output and error of a command.
func shell(_ command: String) -> String {
    guard let stream = popen(command + " 2>&1", "r") else { return "" }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = fread(&buffer, 1, buffer.count, stream)
        guard count > 0 else { break }
        bytes += buffer[..<count]
    }
    pclose(stream)
    return String(decoding: bytes, as: UTF8.self)
}

let hasSQLiteTool = !shell("command -v sqlite3").isEmpty
let isRoot = geteuid() == 0

func query(_ path: String, _ sql: String) -> String {
    let text = shell("sqlite3 '\(path)' \"\(sql)\"")
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
}

func readBytes(_ path: String) -> [UInt8] {
    guard let stream = fopen(path, "r") else { return [] }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = fread(&buffer, 1, buffer.count, stream)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
    }
}

func writeBytes(_ bytes: [UInt8], _ path: String) {
    guard let stream = fopen(path, "w") else { return }
    defer { fclose(stream) }
    _ = fwrite(bytes, 1, bytes.count, stream)
}

/// A token that contains its number.
func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
}

func recipient(_ number: Int, fields: [String] = []) -> Recipient {
    Recipient(
        token: Target(normalized: token(number)), registrationID: "reg\(number)", alias: "user\(number)",
        language: "en",
        fields: fields)
}

func settings(_ change: (inout RunSettings) -> Void = { _ in }) -> RunSettings {
    var settings = RunSettings(environment: .sandbox, topic: "com.example.shop", pushType: .alert, renderingRules: 5)
    change(&settings)
    return settings
}

func plan(_ id: String, audience: Int, plannedAt: Timestamp = Timestamp(epochSeconds: 1_796_115_600)) -> RunPlan {
    RunPlan(
        id: id, campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml",
        campaignSource: "name: spring-sale\n# «ü»\n",
        projectFile: "/x/volley.yaml", seed: RunSeed(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210),
        fields: ["first_name", "größe"],
        plannedAt: plannedAt, planHash: "abc", rows: audience + 3, audience: audience,
        skipped: [.duplicateToken: 2, .badToken: 1],
        settings: .success(settings()), preview: .object(pairs: [("rows", .integer(1))]),
        previewText: "spring-sale would go to …")
}

/// An id that records take for one; others are shorter.
let runID = "20261201-090000-spring-sale-7f3a"

/// A planned run of that many recipients.
func makeRun(
    _ folder: TemporaryFolder, id: String = "run", audience: Int, plannedAt: Timestamp? = nil, retryOf: String? = nil
) throws
    -> RunFile
{
    let writer = try RunWriter(folder: folder.path, id: id)
    for number in 0..<audience { try writer.put(recipient(number), at: number) }
    var plan = plan(id, audience: audience, plannedAt: plannedAt ?? Timestamp(epochSeconds: 1_796_115_600))
    plan.retryOf = retryOf
    return try writer.finish(plan)
}

let noon = Timestamp(epochSeconds: 1_796_126_400)

func settled(
    _ id: Int, _ outcome: Outcome = .accepted, status: Int = 200, reason: String = "", attempts: Int = 1,
    latency: Int = 30,
    at: Timestamp = noon
) -> Settlement {
    Settlement(
        recipient: id, outcome: outcome, status: status, reason: reason, attempts: attempts,
        latencyMilliseconds: latency, settledAt: at)
}

/// The diagnostic that `body` throws.
func diagnostic(_ body: () throws -> Void) -> Diagnostic? {
    do { try body() } catch { return error as? Diagnostic }
    return nil
}

/// A repeatable source of random numbers (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
