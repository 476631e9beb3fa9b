public import Base
public import PushServices

/// Rows with a text of one shape where the device token should be.
public struct BadTokenCount: Hashable, Sendable {
    /// The number, among the app's services, of the service with the expected target.
    public var service: Int
    /// Whether it takes the place of an activity's token, and not of the device's.
    public var isOfActivity = false
    /// What it seems to be.
    public var shape: TargetShape
    /// How many rows have one.
    public var rows: Int
    /// The first of them, shortened as a token, and how long it is in bytes.
    public var shown: String, bytes: Int
    /// Its place.
    public var position: SourcePosition
}

/// Counts them.
struct BadTokens: Sendable {
    private struct First: Sendable {
        var rows: Int
        var shown: String
        var bytes: Int
        var file: String
        var line: Int
    }

    private struct Kind: Hashable, Sendable {
        var service: UInt8
        var isOfActivity: Bool
        var shape: TargetShape
    }

    private var kinds: [Kind: First] = [:]

    /// Notes a cell of a block. Lines count from the block's beginning.
    mutating func note(_ reading: TargetReading, line: Int, _ services: [any PushService]) {
        let text = String(decoding: reading.cell.prefix(4096), as: UTF8.self)
        guard let shape = Self.shape(of: reading, text, services) else { return }
        let kind = Kind(service: reading.service, isOfActivity: reading.isOfActivity, shape: shape)
        if kinds[kind] != nil {
            kinds[kind]?.rows += 1
        } else {
            kinds[kind] = First(rows: 1, shown: Self.shown(text), bytes: reading.cell.count, file: "", line: line)
        }
    }

    /// Why a cell is not a token, with the cell as it may be shown; nil for a blank cell.
    static func flaw(of reading: TargetReading, _ services: [any PushService]) -> (shown: String, clause: String)? {
        let text = String(decoding: reading.cell.prefix(4096), as: UTF8.self), form = form(of: reading, services)
        return shape(of: reading, text, services).map { (shown(text), form.clause(of: $0, length: reading.cell.count)) }
    }

    /// A token of an activity is part of some payloads as it is written, so there quotes or blanks
    /// around it are a flaw.
    private static func shape(of reading: TargetReading, _ text: String, _ services: [any PushService]) -> TargetShape?
    {
        form(of: reading, services).shape(of: text) ?? (reading.isOfActivity && !text.isEmpty ? .surrounded : nil)
    }

    private static func form(of reading: TargetReading, _ services: [any PushService]) -> TargetForm {
        reading.isOfActivity ? PushServices.standard.target : services[Int(reading.service)].target
    }

    private static func shown(_ text: String) -> String {
        TextFormat.foreign(TextFormat.namingInvisible(text.count > 8 ? Target.redact(text) : text), maximumBytes: 40)
    }

    /// Adds the counts of a block that begins at a line of a file.
    mutating func add(_ other: BadTokens, in file: String, from line: Int) {
        for (kind, found) in other.kinds {
            if kinds[kind] != nil {
                kinds[kind]?.rows += found.rows
            } else {
                var first = found
                (first.file, first.line) = (file, line + found.line - 1)
                kinds[kind] = first
            }
        }
    }

    var list: [BadTokenCount] {
        kinds.map { kind, found in
            BadTokenCount(
                service: Int(kind.service), isOfActivity: kind.isOfActivity, shape: kind.shape, rows: found.rows,
                shown: found.shown,
                bytes: found.bytes,
                position: SourcePosition(file: found.file, line: found.line, column: 1))
        }.sorted { ($1.rows, $0.service, $0.shape.rawValue) < ($0.rows, $1.service, $1.shape.rawValue) }
    }
}
