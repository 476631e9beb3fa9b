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
                plan.id, plan.campaign, plan.app, RunState.planned.rawValue, plan.plannedAt.epochMilliseconds, plan.rows, plan.audience,
                JSONValue.object(pairs: skipped).text, hex(plan.seed.high) + hex(plan.seed.low), plan.planHash,
                JSONValue.array(plan.fields.map { .string($0) }).text, plan.projectFile, plan.campaignFile, plan.campaignSource,
                try plan.settings.get().json.text, plan.preview.text, plan.retryOf ?? "", plan.previewText, plan.isTest ? 1 : 0,
                recipients.text,
            ])
        try insert(plan.waves, into: db)
        if try plan.settings.get().services.count > 1 { try insert(plan.serviceLegs, into: db) }
        try db.execute(sql: "UPDATE run SET digest = ?", arguments: [try digest(of: db)])
    }

    /// Reads it back; nil when `insert` cannot have written it. Settings that can be read only in part do not affect the rest.
    /// - Parameter path: the run file's, for messages about its settings.
    static func plan(from db: Database, path: String) throws -> RunPlan? {
        let sql = """
            SELECT id, campaign, app, campaign_file, campaign_source, project_file, plan_hash, planned_at, rows, audience, seed, fields,
                skipped, settings, preview, retry_of, preview_text, is_test FROM run
            """
        guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
        let texts = (0..<7).compactMap { row[$0] as String? }
        guard texts.count == 7, let plannedAt = row[7] as Int64?, let rows = row[8] as Int?, let audience = row[9] as Int?, audience >= 0,
            let seed = (row[10] as String?).flatMap(seed), let fields = (row[11] as String?).flatMap(fieldNames),
            let skipped = (row[12] as String?).flatMap(skips), let settings = (row[13] as String?).flatMap({ try? JSONValue(parsing: $0) }),
            let preview = (row[14] as String?).flatMap({ try? JSONValue(parsing: $0) }), let retryOf = row[15] as String?,
            let previewText = row[16] as String?, let isTest = row[17] as Int?,
            let waves = try waves(from: db, audience: audience), let legs = try legs(from: db, audience: audience)
        else { return nil }
        let read = Result { () throws(Diagnostic) in try RunSettings(json: settings, runFile: path) }
        if let services = try? read.get().services.count {
            guard (services > 1) == (try hasLegs(db)), legs.allSatisfy({ $0.service < services }) else { return nil }
        }
        return RunPlan(
            id: texts[0], campaign: texts[1], app: texts[2], campaignFile: texts[3], campaignSource: texts[4], projectFile: texts[5],
            seed: seed, fields: fields, plannedAt: Timestamp(epochMilliseconds: plannedAt), planHash: texts[6], rows: rows,
            audience: audience, skipped: skipped,
            settings: read, preview: preview, previewText: previewText, retryOf: retryOf.isEmpty ? nil : retryOf, isTest: isTest != 0,
            waves: waves, serviceLegs: legs)
    }

    /// Identifies a plan: SHA-256 of everything that planning stored, in SQL notation, with the recipients' own digest for the recipients.
    static func digest(of db: Database) throws -> String {
        let columns = [
            "id", "campaign", "app", "planned_at", "rows", "audience", "skipped", "seed", "plan_hash", "fields", "project_file",
            "campaign_file", "campaign_source", "settings", "preview", "retry_of", "preview_text", "is_test", "recipients_digest",
        ]
        let text = try String.fetchOne(db, sql: "SELECT \(columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")) FROM run")
        var hash = SHA256()
        hash.update("volley run 3\n\(text ?? "")\(try waveText(of: db))\(try legText(of: db))")
        return hash.finalizeHex()
    }

    private static func hex(_ word: UInt64) -> String { TextFormat.hex(word, digits: 16) }

    private static func seed(_ text: String) -> RunSeed? {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16) else {
            return nil
        }
        return RunSeed(high: high, low: low)
    }

    private static func fieldNames(_ text: String) -> [String]? { FieldsCell.decode(text) }

    private static func skips(_ text: String) -> [SkipReason: Int]? {
        guard case .object(let members)? = try? JSONValue(parsing: text) else { return nil }
        var skipped: [SkipReason: Int] = [:]
        for member in members {
            guard let reason = SkipReason(rawValue: member.name), let count = member.value.integerValue else { return nil }
            skipped[reason] = Int(count)
        }
        return skipped
    }
}
