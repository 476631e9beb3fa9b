import Base

@testable import Audience

/// An input of the targets that scan: three bytes that select how, then the export.
struct ScanInput {
    /// Chunks of a few bytes, so that every record straddles their ends.
    let chunkSizes: [Int]
    /// The export.
    let content: [UInt8]
    private let choices: UInt8

    /// nil if nothing is left for the export.
    init?(_ input: [UInt8]) {
        guard input.count > 3 else { return nil }
        chunkSizes = [1 + Int(input[0]) % 96, 1 + 3 * Int(input[1])]
        choices = input[2]
        content = Array(input[3...])
    }

    /// The other of the two formats that a target reads.
    var usesSecondFormat: Bool { choices & 8 != 0 }
    /// How many slots' recipients are kept.
    var recordLimit: Int { choices & 64 != 0 ? 2 : .max }
    private var refusesSome: Bool { choices & 32 != 0 }

    /// The query over a file that holds `content`.
    func query(_ path: String) -> AudienceQuery {
        var query = AudienceQuery(files: [path], columns: ExportColumns(), now: Timestamp(epochSeconds: 1_795_176_000))
        query.maximumBadRowShare = 1
        if choices & 1 != 0 {
            query.everyone = true
        } else {
            (query.anyTags, query.allTags, query.noneTags) = (["daily", "折扣", "a"], ["news"], ["beta"])
            (query.aliases, query.registrationIDs) = (["u1", "u2"], ["r1", "191"])
        }
        if choices & 2 != 0 {
            (query.excludedTags, query.excludedAliases, query.excludedRegistrationIDs) = (
                ["beta", "b"], ["u2"], ["r2"]
            )
        }
        // The export is also the list of excluded devices.
        if choices & 130 == 130 { query.excludedDevices = [path] }
        if choices & 4 != 0 {
            query.conditions = [
                condition("language", .oneOf(["en", "de"])), condition("last_active", .within(seconds: 365 * 86400)),
                condition("app_version", .comparison(.greaterOrEqual, "3.2.0")),
            ]
        }
        if choices & 16 != 0 { query.fields = [named("first_name"), named("language")] }
        if choices & 128 != 0 { query.aliasLimit = 1 }
        return query
    }

    /// Judges only by the contents of the record, so that every order of the blocks gives the same
    /// result.
    var judge: @Sendable () -> RecipientChecker {
        let refusesSome = refusesSome
        return {
            { record in
                let sum = record.fields.reduce(record.alias.count) { $0 &+ Int($1) }
                return RecipientCheck(
                    payloadBytes: sum % 5000, reason: refusesSome && sum % 3 == 0 ? .renderError : nil)
            }
        }
    }

    private func condition(_ column: String, _ test: ColumnTest) -> ColumnCondition {
        ColumnCondition(column: named(column), test: test)
    }

    private func named(_ text: String) -> SourceText {
        SourceText(text, at: SourcePosition(file: "fuzz.yaml", line: 1, column: 1))
    }
}
