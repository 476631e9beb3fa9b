import Base
import Cryptography
import GRDB

extension RunSchema {
    /// Stores the one row of `run`.
    /// - Parameter recipients: the digest of what the table of recipients holds.
    /// - Throws: the plan's own `Diagnostic` when its settings could not be read.
    static func insert(_ plan: RunPlan, recipients: RecipientsDigest, into db: Database) throws {
        let skipped = SkipReason.allCases.compactMap { reason in
            plan.skipped[reason].map { (reason.rawValue, JSONValue.integer(Int64($0))) }
        }
        try db.execute(
            sql: """
                INSERT INTO run (id, campaign, app, state, stop_cause, planned_at, rows, audience, skipped, seed, plan_hash, fields,
                    project_file, campaign_file, campaign_source, settings, preview, retry_of, preview_text, is_test,
                    recipients_digest, digest)
                VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
                """,
            arguments: [
                plan.id, plan.campaign, plan.app, RunState.planned.rawValue, plan.plannedAt.epochMilliseconds,
                plan.rows, plan.audience,
                JSONValue.object(pairs: skipped).text, hex(plan.seed.high) + hex(plan.seed.low), plan.planHash,
                JSONValue.array(plan.fields.map { .string($0) }).text, plan.projectFile, plan.campaignFile,
                plan.campaignSource,
                try plan.settings.get().json.text, plan.preview.text, plan.retryOf ?? "", plan.previewText,
                plan.isTest ? 1 : 0,
                recipients.text,
            ])
        try insert(plan.waves, into: db)
        if try plan.settings.get().services.count > 1 { try insert(plan.serviceSegments, into: db) }
        try db.execute(sql: "UPDATE run SET digest = ?", arguments: [try digest(of: db)])
    }

    /// Reads it back; nil when `insert` cannot have written it. Settings that can be read only in
    /// part do not affect the rest.
    /// - Parameter path: the run file's, for messages about its settings.
    static func plan(from db: Database, path: String) throws -> RunPlan? {
        let sql = """
            SELECT id, campaign, app, campaign_file, campaign_source, project_file, plan_hash, planned_at, rows, audience, seed, fields,
                skipped, settings, preview, retry_of, preview_text, is_test FROM run
            """
        guard let stored = try db.first(sql, reading: { try StoredPlan($0) }), let seed = seed(stored.seed),
            let fields = fieldNames(stored.fields),
            let skipped = skips(stored.skipped), let waves = try waves(from: db, audience: stored.audience),
            let segments = try segments(from: db, audience: stored.audience), stored.retryOf != stored.texts[0]
        else { return nil }
        let read = Result { () throws(Diagnostic) in try RunSettings(json: stored.settings, runFile: path) }
        if let services = try? read.get().services.count {
            guard (services > 1) == (try hasSegments(db)), segments.allSatisfy({ $0.service < services }) else {
                return nil
            }
        }
        let texts = stored.texts
        return RunPlan(
            id: texts[0], campaign: texts[1], app: texts[2], campaignFile: texts[3], campaignSource: texts[4],
            projectFile: texts[5],
            seed: seed, fields: fields, plannedAt: stored.plannedAt, planHash: texts[6], rows: stored.rows,
            audience: stored.audience,
            skipped: skipped, settings: read, preview: stored.preview, previewText: stored.previewText,
            retryOf: stored.retryOf.isEmpty ? nil : stored.retryOf, isTest: stored.isTest, waves: waves,
            serviceSegments: segments)
    }

    /// The row of `run` that `plan` selects, with values of the right types.
    private struct StoredPlan {
        let texts: [String], plannedAt: Timestamp, rows: Int, audience: Int, seed: String, fields: String,
            skipped: String
        let settings: JSONValue, preview: JSONValue, retryOf: String, previewText: String, isTest: Bool

        init(_ row: PreparedStatement.Row) throws {
            texts = try (0..<7).map { try row.string($0) }
            (plannedAt, rows, audience) = (try row.moment(7), try row.count(8), try row.count(9))
            // What four bytes number: no plan has more.
            guard audience <= Int(UInt32.max) else { throw row.mismatch(9, "a number of devices") }
            (seed, fields, skipped) = (try row.string(10), try row.string(11), try row.string(12))
            (settings, preview, retryOf) = (try row.json(13), try row.json(14), try row.string(15))
            (previewText, isTest) = (try row.string(16), try row.flag(17))
        }
    }

    /// What the file records of the state; nil without a row.
    static func status(_ db: Database) throws -> RunStatus? {
        try db.first("SELECT state, stop_cause, started_at, finished_at FROM run") { row in
            RunStatus(
                state: try row.word(0), cause: stopCause(try row.string(1)), startedAt: try row.optional(2, row.moment),
                finishedAt: try row.optional(3, row.moment))
        }
    }

    /// The state that the file records; nil without a row.
    static func state(_ db: Database) throws -> RunState? { try db.first("SELECT state FROM run") { try $0.word(0) } }

    /// Identifies a plan: SHA-256 of everything that planning stored, in SQL notation, with the
    /// recipients' own digest for the recipients.
    static func digest(of db: Database) throws -> String {
        let columns = [
            "id", "campaign", "app", "planned_at", "rows", "audience", "skipped", "seed", "plan_hash", "fields",
            "project_file",
            "campaign_file", "campaign_source", "settings", "preview", "retry_of", "preview_text", "is_test",
            "recipients_digest",
        ]
        let text = try db.first("SELECT \(columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")) FROM run") {
            try $0.string(0)
        }
        var hash = SHA256()
        hash.update("volley run 3\n\(text ?? "")\(try waveText(of: db))\(try segmentText(of: db))")
        return hash.finalizeHex()
    }

    private static func hex(_ word: UInt64) -> String { TextFormat.hex(word, digits: 16) }

    private static func seed(_ text: String) -> RunSeed? {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else {
            return nil
        }
        return RunSeed(high: high, low: low)
    }

    private static func fieldNames(_ text: String) -> [String]? { FieldsCell.decode(text) }

    private static func skips(_ text: String) -> [SkipReason: Int]? {
        guard case .object(let members)? = JSONValue(stored: text) else { return nil }
        var skipped: [SkipReason: Int] = [:]
        for member in members {
            guard let reason = SkipReason(rawValue: member.name), let count = member.value.integerValue,
                (0...1 << 40).contains(count), skipped[reason] == nil
            else { return nil }
            skipped[reason] = Int(count)
        }
        return skipped
    }
}

/// The cells that templates need, as one JSON array of strings in `recipient.fields`.
enum FieldsCell {
    static func encode(_ fields: [String], buffer: inout [UInt8]) -> String {
        guard !fields.isEmpty else { return "[]" }
        buffer.removeAll(keepingCapacity: true)
        for field in fields {
            buffer.append(buffer.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            JSONWriter.appendString(field, to: &buffer)
        }
        buffer.append(UInt8(ascii: "]"))
        return String(decoding: buffer, as: UTF8.self)
    }

    /// nil when the text is not a JSON array of strings.
    static func decode(_ text: String) -> [String]? {
        if text == "[]" { return [] }
        // Escapes are rare; without them the cells are simply the text between the quotes.
        return decodePlain(text) ?? decodeAny(text)
    }

    private static func decodePlain(_ text: String) -> [String]? {
        var text = text
        return text.withUTF8 { bytes -> [String]? in
            guard bytes.first == UInt8(ascii: "[") else { return nil }
            var fields: [String] = []
            var index = 1
            while true {
                guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
                var end = index + 1
                while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
                    if bytes[end] == UInt8(ascii: "\\") { return nil }
                    end += 1
                }
                guard end + 1 < bytes.count else { return nil }
                fields.append(String(decoding: bytes[(index + 1)..<end], as: UTF8.self))
                if bytes[end + 1] == UInt8(ascii: "]") { return end + 2 == bytes.count ? fields : nil }
                guard bytes[end + 1] == UInt8(ascii: ",") else { return nil }
                index = end + 2
            }
        }
    }

    private static func decodeAny(_ text: String) -> [String]? {
        guard case .array(let values)? = try? JSONValue(parsing: text) else { return nil }
        let fields = values.compactMap(\.stringValue)
        return fields.count == values.count ? fields : nil
    }
}
