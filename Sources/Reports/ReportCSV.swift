import Base
public import Runs

/// The report as CSV, one line per recipient, streamed.
///
/// RFC 4180 with one departure: lines end with LF alone, because the file is read by scripts (cut, awk, sort) as often as by
/// spreadsheets, and every reader of CSV takes both. A cell that a spreadsheet would run as a formula (first character `= + - @`,
/// tab or carriage return) gets an apostrophe in front. `variant` is blank when the campaign
/// has no variants.
public enum ReportCSV {
    /// The first line, without its end.
    public static let header =
        "device_token,registration_id,alias,language,variant,outcome,status,reason,attempts,apns_id,latency_ms,settled_at"

    private static let chunk = 64 << 10

    /// Writes the header and a line per recipient in id order; `write` takes chunks of about 64 KiB.
    /// - Throws: `Diagnostic` when the run file is damaged; whatever `write` throws.
    public static func write(_ run: RunStore, to write: ([UInt8]) throws -> Void) throws {
        var line = LineWriter(seed: run.plan.seed)
        line.bytes.reserveCapacity(chunk + 4096)
        line.bytes.append(contentsOf: header.utf8)
        line.bytes.append(UInt8(ascii: "\n"))
        try run.forEachResult { id, recipient, settled, isClaimed in
            line.append(id, recipient, settled, isClaimed: isClaimed)
            if line.bytes.count >= chunk {
                try write(line.bytes)
                line.bytes.removeAll(keepingCapacity: true)
            }
        }
        if !line.bytes.isEmpty { try write(line.bytes) }
    }
}

private struct LineWriter {
    let seed: RunSeed
    var bytes: [UInt8] = []
    /// Neighbours mostly share their second, so its text is made once.
    private var second = Int64.min
    private var secondText: [UInt8] = []

    init(seed: RunSeed) { self.seed = seed }

    mutating func append(_ id: Int, _ recipient: Recipient, _ settled: Settlement?, isClaimed: Bool) {
        bytes.append(contentsOf: recipient.token.hex.utf8)
        comma()
        cell(recipient.registrationID)
        comma()
        cell(recipient.alias)
        comma()
        cell(recipient.language)
        comma()
        cell(recipient.variant)
        comma()
        let outcome = settled?.outcome ?? (isClaimed ? .unknown : .unsent)
        bytes.append(contentsOf: outcome.name.utf8)
        comma()
        let hasAnswer = settled?.status ?? 0 > 0
        if hasAnswer { number(settled?.status ?? 0) }
        comma()
        cell(settled?.reason ?? "")
        comma()
        number(settled?.attempts ?? 0)
        comma()
        // What was claimed and has no outcome may have been sent: its id helps to find out.
        if settled.map({ $0.attempts > 0 }) ?? isClaimed { APNsID(runSeed: seed, recipient: id).append(to: &bytes) }
        comma()
        if hasAnswer { number(settled?.latencyMilliseconds ?? 0) }
        comma()
        if let moment = settled?.settledAt { append(moment) }
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func comma() { bytes.append(UInt8(ascii: ",")) }

    private mutating func number(_ value: Int) { bytes.append(contentsOf: String(value).utf8) }

    private mutating func append(_ moment: Timestamp) {
        if moment.epochSeconds != second {
            second = moment.epochSeconds
            secondText = Array(moment.description.utf8)
        }
        bytes.append(contentsOf: secondText)
    }

    private mutating func cell(_ text: String) { CSVCell.append(text, to: &bytes) }
}
