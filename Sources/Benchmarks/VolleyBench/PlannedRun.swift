import Base
import Content
import Runs

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
                    token: Target(normalized: hex), registrationID: "reg\(id)", alias: "user\(id)", language: "en", fields: cells),
                at: id)
        }
        let run = try writer.finish(
            RunPlan(
                id: "bench", campaign: "bench", app: "shop", campaignFile: "bench.yaml", campaignSource: "", projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: template.columns.map(\.value), plannedAt: .now(), planHash: "", rows: recipients,
                audience: recipients, skipped: [:], settings: .success(settings), preview: .object([])))
        return (run, template)
    }

    /// Settings of a run whose campaign sets nothing.
    static let settings = RunSettings(
        environment: .simulator, topic: "com.example.shop", pushType: .alert, renderingRules: MessageCatalog.renderingRules)

    /// Returns 64 hex digits, different for each number.
    static func token(_ id: Int) -> String {
        let x = UInt64(id) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        return [x | 1 << 63, x &* 3, x &* 5, x &* 7].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
