import Base
import Content
import Delivery
import Glibc
import Runs

/// What a push costs around the transport: reading and rendering it, claiming it, recording its outcome. CPU time of the whole process,
/// so that what SQLite does on other threads counts too; the disk's own time does not.
struct PipelineBenchmark {
    let recipients: Int
    private let folder: String

    init(recipients: Int) throws {
        self.recipients = recipients
        var path = Array("/tmp/volley-bench-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw Diagnostic("no temporary folder: \(String(cString: strerror(errno)))") }
        folder = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func run() throws {
        defer { Workbench.remove(folder) }
        let content = content()
        let template = try PayloadTemplate(content)
        let run = try plan(template)
        try run.setState(.running, reason: "", at: .now())
        print("| \(TextFormat.count(recipients)) recipients | CPU ns a push |\n|---|---|")
        var bytes = 0
        try measure("read") {
            for range in ranges(of: 1000) { try run.forEachPush(in: range) { _, token, _, _ in bytes += token.count } }
        }
        try measure("read and render") {
            for range in ranges(of: 1000) {
                var batch = PushBatch()
                batch.reserve(pushes: range.count, bytes: range.count * 256)
                try run.forEachPush(in: range) { id, token, language, cells in
                    try batch.append(recipient: id, token: token) { bytes in
                        if template.append(cells, language: language, to: &bytes) != nil {
                            throw Diagnostic("recipient \(id) cannot be rendered")
                        }
                    }
                }
                bytes += batch.bytes.count
            }
        }
        guard bytes > 64 * recipients else { throw Diagnostic("the pushes have no payloads") }
        try measure("claim, 4,000 at a time") {
            for range in ranges(of: 4000) { try run.claim(range, at: .now()) }
        }
        var order = Array(0..<recipients)
        // Answers overtake one another a little.
        for index in order.indices { order.swapAt(index, min(recipients - 1, index + Int.random(in: 0..<1000))) }
        let now = Timestamp.now()
        let settlements = order.map {
            Settlement(recipient: $0, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 30, settledAt: now)
        }
        let half = recipients / 2
        for (group, part) in [(1000, 0..<half), (10000, half..<recipients)] {
            try measure("record, \(TextFormat.count(group)) at a time", of: part.count) {
                for start in stride(from: part.lowerBound, to: part.upperBound, by: group) {
                    try run.record(Array(settlements[start..<min(start + group, part.upperBound)]))
                }
            }
        }
    }

    private func ranges(of size: Int) -> [Range<Int>] {
        stride(from: 0, to: recipients, by: size).map { $0..<min($0 + size, recipients) }
    }

    private func measure(_ name: String, of count: Int? = nil, _ body: () throws -> Void) throws {
        let start = cpuNanoseconds()
        try body()
        print("| \(name) | \(TextFormat.count((cpuNanoseconds() - start) / (count ?? recipients))) |")
    }

    private func cpuNanoseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The content of the sender's benchmark.
    private func content() -> MessageContent {
        let place = SourcePosition(file: "bench.yaml", line: 1, column: 1)
        var content = MessageContent(position: place)
        content.title = SourceText("Hi {{ first_name | default: 'there' }}", at: place)
        content.body = SourceText("20 % off everything until Sunday, in every {{ store }}.", at: place)
        content.sound = SourceText("default", at: place)
        content.link = SourceText("shop://sale", at: place)
        return content
    }

    private func plan(_ template: PayloadTemplate) throws -> RunStore {
        let writer = try RunWriter(folder: folder, id: "bench")
        for id in 0..<recipients {
            let x = UInt64(id) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
            let hex = [x | 1 << 63, x &* 3, x &* 5, x &* 7].map {
                TextFormat.aligned(String($0, radix: 16), to: 16).map { $0 == " " ? "0" : String($0) }.joined()
            }.joined()
            let cells = template.columns.map { $0.value == "store" ? "store" : id % 3 == 0 ? "" : "Ada" }
            try writer.put(
                Recipient(
                    token: DeviceToken(normalized: hex), registrationID: "reg\(id)", alias: "user\(id)", language: "en", fields: cells),
                at: id)
        }
        return try writer.finish(
            RunPlan(
                id: "bench", campaign: "bench", app: "shop", campaignFile: "bench.yaml", campaignSource: "", projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: template.columns.map(\.value), plannedAt: .now(), planHash: "", rows: recipients,
                audience: recipients, skipped: [:], settings: .object([]), preview: .object([])))
    }
}
