import Base
import Content
import Runs

/// What reports of a large run cost. Each format runs in its own process, as from the command line:
/// first with the figures that a run keeps when it ends, then without them, as after a run that was
/// cut off, when every outcome and every recipient must be read. Then what pruning costs.
struct ReportBenchmark {
    let bench: Workbench
    let recipients: Int

    /// A generous estimate for each recipient: the run with its recipients and outcomes, and the
    /// CSV.
    private static let diskBytesPerRecipient = 500
    private static let languages = ["en", "de", "fr", "es", "zh-Hans", "pt-BR", "ja", "ar", "", "pl"]

    func run() throws {
        guard bench.freeBytes > recipients * Self.diskBytesPerRecipient else {
            throw Diagnostic(
                "this benchmark needs \(TextFormat.bytes(recipients * Self.diskBytesPerRecipient)) of free disk space")
        }
        let folder = try bench.makeFolder("reports")
        Table.progress("a run of \(TextFormat.count(recipients))")
        let (run, beginning, ending) = try makeRun(folder)
        Table.say(
            "\nReports of a run of \(TextFormat.count(recipients)), ten languages in two variants; one process for each\n"
        )
        Table.head(["what", "seconds", "CPU seconds", "peak memory", "a second"])
        Table.line([
            "comparing the plan's digest before the first push", Table.fixed(beginning), "", "",
            Table.count(Double(recipients) / beginning),
        ])
        Table.line([
            "counting all figures at the run's end", Table.fixed(ending), "", "",
            Table.count(Double(recipients) / ending),
        ])
        for form in ["text", "json", "html"] { try line("\(form), figures kept", form, folder, []) }
        try line("csv", "csv", folder, [])
        try line("csv, invalid_token only", "csv", folder, ["--outcome", "invalid_token"])
        // The state that a killed process leaves: no figures are kept, and the last claim is still
        // open.
        try run.append(.state(.running, at: .now()))
        try run.append(
            .settled([
                [Settlement(recipient: recipients - 1, outcome: .accepted, status: 200, attempts: 1, settledAt: .now())]
            ]))
        try run.closeIntoOneFile()
        for form in ["text", "json", "html"] { try line("\(form), recounted", form, folder, []) }
        try prune(folder)
        Workbench.remove(folder)
    }

    private func line(_ name: String, _ form: String, _ folder: String, _ more: [String]) throws {
        let result = try bench.run(
            [
                "\(bench.binaries)/volley", "report", "bench", "--runs", folder, "--format", form, "--output",
                "\(folder)/report",
            ] + more,
            limitSeconds: 600)
        Table.line([
            name, Table.fixed(result.seconds), Table.fixed(result.cpuSeconds), TextFormat.bytes(result.peakBytes),
            form == "csv" ? Table.count(Double(recipients) / result.seconds) : "",
        ])
    }

    private func prune(_ folder: String) throws {
        let result = try bench.run(
            ["\(bench.binaries)/volley", "prune", "--keep", "0s", "--yes", "--include-stopped", "--runs", folder],
            limitSeconds: 600)
        Table.line([
            "prune", Table.fixed(result.seconds), Table.fixed(result.cpuSeconds), TextFormat.bytes(result.peakBytes),
            "",
        ])
    }

    /// Makes a run that has ended, except for its last recipient.
    /// - Returns: the run, and the seconds that comparing its digest at its beginning and counting
    ///   at its end took.
    private func makeRun(_ folder: String) throws -> (RunFile, beginning: Double, ending: Double) {
        let writer = try RunWriter(folder: folder, id: "bench")
        for id in 0..<recipients {
            try writer.put(
                Recipient(
                    token: Target(normalized: PlannedRun.token(id)), registrationID: "reg\(id)", alias: "user\(id / 2)",
                    language: Self.languages[id % 89 % 10], variant: id % 19 < 9 ? "short" : "long", fields: ["Ada"]),
                at: id)
        }
        let made = try writer.finish(
            RunPlan(
                id: "bench", campaign: "bench", app: "shop", campaignFile: "bench.yaml", campaignSource: "",
                projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: ["name"], plannedAt: .now(), planHash: "", rows: recipients * 3,
                audience: recipients, skipped: [.notMatched: recipients * 2], settings: .success(PlannedRun.settings),
                preview: .object([]))
        )
        // Opened again, because the planned run is already known to be unchanged.
        let run = try RunFile(path: made.path)
        made.close()
        let beginning = try seconds { try run.checkUnchanged() }
        let start = Timestamp.now()
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<recipients, at: start))
        for first in stride(from: 0, to: recipients - 1, by: 4000) {
            try run.append(.settled([(first..<min(first + 4000, recipients - 1)).map { settlement($0, start) }]))
        }
        let ending = try seconds {
            try run.append(.state(.stopped, at: start.adding(seconds: Double(recipients) / 50_000)))
        }
        try run.closeIntoOneFile()
        return (run, beginning, ending)
    }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock.now
        try body()
        return (ContinuousClock.now - clock) / .seconds(1)
    }

    private func settlement(_ id: Int, _ start: Timestamp) -> Settlement {
        let latency = 12 + id &* 2_654_435_761 % 97 * (id &* 40_503 % 11) / 10
        let moment = start.adding(seconds: Double(id) / 50_000)
        func settled(_ outcome: Outcome, _ status: Int, _ reason: String, _ attempts: Int) -> Settlement {
            Settlement(
                recipient: id, outcome: outcome, status: status, reason: reason, attempts: attempts,
                latencyMilliseconds: latency,
                settledAt: moment)
        }
        if id % 97 == 0 { return settled(.invalidToken, 410, "Unregistered", 1) }
        if id % 4999 == 0 { return settled(.failed, 503, "ServiceUnavailable", 5) }
        return settled(.accepted, 200, "", id % 331 == 0 ? 2 : 1)
    }
}

/// A run with the content of the sender's benchmark.
enum PlannedRun {
    /// The content of the sender's benchmark.
    private static func content() -> MessageContent {
        let place = SourcePosition(file: "bench.yaml", line: 1, column: 1)
        var content = MessageContent(position: place)
        content.title = SourceText("Hi {{ first_name | default: 'there' }}", at: place)
        content.body = SourceText("20 % off everything until Sunday, in every {{ store }}.", at: place)
        content.sound = SourceText("default", at: place)
        content.link = SourceText("shop://sale", at: place)
        return content
    }

    static func make(recipients: Int, folder: String) throws -> (RunFile, PayloadTemplate) {
        let template = try PayloadTemplate(content())
        let writer = try RunWriter(folder: folder, id: "bench")
        for id in 0..<recipients {
            let hex = token(id)
            let cells = template.columns.map { $0.value == "store" ? "store" : id % 3 == 0 ? "" : "Ada" }
            try writer.put(
                Recipient(
                    token: Target(normalized: hex), registrationID: "reg\(id)", alias: "user\(id)", language: "en",
                    fields: cells),
                at: id)
        }
        let run = try writer.finish(
            RunPlan(
                id: "bench", campaign: "bench", app: "shop", campaignFile: "bench.yaml", campaignSource: "",
                projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: template.columns.map(\.value), plannedAt: .now(), planHash: "",
                rows: recipients,
                audience: recipients, skipped: [:], settings: .success(settings), preview: .object([])))
        return (run, template)
    }

    /// Settings of a run whose campaign sets nothing.
    static let settings = RunSettings(
        environment: .simulator, topic: "com.example.shop", pushType: .alert,
        renderingRules: MessageCatalog.renderingRules)

    /// Returns 64 hex digits, different for each number.
    static func token(_ id: Int) -> String {
        let x = UInt64(id) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        return [x | 1 << 63, x &* 3, x &* 5, x &* 7].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
