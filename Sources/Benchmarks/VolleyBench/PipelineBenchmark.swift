import Base
import Content
import Delivery
import Glibc
import Runs

/// The cost of a push outside the transport: reading and rendering it, claiming it, recording its
/// outcome. Measures the CPU time of the whole process, so that it includes SQLite's work on other
/// threads but not the time of the disk.
struct PipelineBenchmark {
    let recipients: Int
    private let folder: String

    init(recipients: Int) throws {
        self.recipients = recipients
        folder = try Workbench.temporaryFolder()
    }

    func run() throws {
        defer { Workbench.remove(folder) }
        let (run, template) = try PlannedRun.make(recipients: recipients, folder: folder)
        try run.append(.state(.running, at: .now()))
        print("| \(TextFormat.count(recipients)) recipients | CPU ns a push |\n|---|---|")
        var bytes = 0
        try measure("read") {
            for range in ranges(of: 1000) { try run.forEachPush(in: range) { bytes += $0.token.count } }
        }
        try measure("read and render") {
            for range in ranges(of: 1000) {
                var batch = PushBatch()
                batch.reserve(pushes: range.count, bytes: range.count * 256)
                try run.forEachPush(in: range) { push in
                    try batch.append(recipient: push.id, token: push.token) { bytes in
                        if template.append(push.cells, language: push.language, to: &bytes) != nil {
                            throw Diagnostic("recipient \(push.id) cannot be rendered")
                        }
                    }
                }
                bytes += batch.bytes.count
            }
        }
        guard bytes > 64 * recipients else { throw Diagnostic("the pushes have no payloads") }
        try measure("claim, 4,000 at a time") {
            for range in ranges(of: 4000) { try run.append(.claimed(range, at: .now())) }
        }
        var order = Array(0..<recipients)
        // As in a real run, answers arrive slightly out of order.
        for index in order.indices { order.swapAt(index, min(recipients - 1, index + Int.random(in: 0..<1000))) }
        let now = Timestamp.now()
        let settlements = order.map {
            Settlement(
                recipient: $0, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 30, settledAt: now)
        }
        let half = recipients / 2
        for (group, part) in [(1000, 0..<half), (10000, half..<recipients)] {
            try measure("record, \(TextFormat.count(group)) at a time", of: part.count) {
                for start in stride(from: part.lowerBound, to: part.upperBound, by: group) {
                    try run.append(.settled([Array(settlements[start..<min(start + group, part.upperBound)])]))
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
}
