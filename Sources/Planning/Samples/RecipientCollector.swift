import Audience
public import Base
import Campaigns
import Content
import PushServices
import Runs

/// Takes the recipients of a scan: keeps those of the first slots for samples, and hands all of
/// them to the writer of the run file, if there is one.
final class RecipientCollector: RecipientSink {
    private let writer: RecipientWriter?
    private let keptSlots: Int
    /// The recipients of the first slots as in their newest rows, including those that drop out in
    /// the end.
    private(set) var kept: [Int: Recipient] = [:]

    /// - Parameters:
    ///   - keeping: how many slots' recipients are kept.
    ///   - writer: of the run file; nil for a preview.
    package init(keeping: Int, writer: RecipientWriter?) {
        keptSlots = keeping
        self.writer = writer
    }

    var recordLimit: Int { writer == nil ? keptSlots : .max }

    func receive(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in
            if slot < keptSlots { kept[slot] = Recipient(record) }
        }
        try writer?.put(batch)
    }

    func finish(slots: Int, dropping dropped: BitSet) throws { try writer?.finish(slots: slots, dropping: dropped) }
}

/// Collects the recipients of a few slots from a second scan.
final class SlotCollector: RecipientSink {
    private let slots: Set<Int>
    private(set) var found: [Int: Recipient] = [:]

    package init(_ slots: Set<Int>) { self.slots = slots }

    var recordLimit: Int { (slots.max() ?? -1) + 1 }

    func receive(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in
            if slots.contains(slot) { found[slot] = Recipient(record) }
        }
    }

    func finish(slots: Int, dropping dropped: BitSet) throws {}
}

/// Finds the samples of a preview: for each message that a device gets, the recipients that were
/// found first. Which these are depends only on the exports, not on how they are read.
struct SampleFinder {
    let messages: MessageCatalog
    /// How many samples of each message are wanted.
    let wanted: Int

    /// How many slots' recipients the first scan keeps. Some of the first may drop out, and where
    /// there is a choice, a rare language may come late: a sample that is not among them costs a
    /// second scan.
    var slotsToKeep: Int { messages.hasChoice ? 10_000 + wanted : 200 + wanted }

    /// - Parameters:
    ///   - kept: recipients of the first slots.
    ///   - rescan: scans again, into another sink; only called when a recipient is missing.
    func samples(
        of result: AudienceResult, kept: [Int: Recipient], rescan: (SlotCollector) throws -> Void
    ) rethrows -> [PreviewSample] {
        let first = messages.messages.indices.map { (result.firstRecipients[$0] ?? []).prefix(wanted) }
        let missing = Set(first.joined().map(\.slot).filter { kept[$0] == nil })
        var recipients = kept
        if !missing.isEmpty {
            let sink = SlotCollector(missing)
            try rescan(sink)
            recipients.merge(sink.found) { old, _ in old }
        }
        return first.enumerated().flatMap { number, found in
            found.compactMap { sample(number, $0, recipients[$0.slot]) }
        }
    }

    /// nil when an export changed between the two scans.
    private func sample(_ number: Int, _ found: FirstRecipient, _ recipient: Recipient?) -> PreviewSample? {
        var chooser = MessageChooser(messages)
        let message = messages.messages[number]
        guard let recipient, chooser.message(of: recipient, service: message.service) == number else { return nil }
        var payload: [UInt8] = []
        guard message.template.render(recipient.fields, language: recipient.language, into: &payload) == nil else {
            return nil
        }
        return PreviewSample(
            recipient: recipient, message: number, service: messages.services[message.service],
            serviceName: messages.services.count > 1 ? messages.services[message.service].name : "",
            variant: message.variant,
            language: message.language, payload: payload,
            placeholders: message.content.tracking.map { [$0.run, "\(PushID.sample)"] } ?? [],
            selectedBy: found.selectors)
    }
}

/// Writes recipients into a run file on its own thread, so that the scan need not wait for SQLite.
final class RecipientWriter {
    private let file: SharedWriter
    private let batches = BoundedQueue<RecipientBatch>(capacity: 16)
    private var thread: WorkerThread<(any Error)?>?

    /// `@unchecked Sendable`: until its thread has ended, nothing else uses the writer.
    private final class SharedWriter: @unchecked Sendable {
        let writer: RunWriter
        init(_ writer: RunWriter) { self.writer = writer }
    }

    /// - Throws: a `Diagnostic` when no thread can be started.
    package init(_ writer: RunWriter) throws(Diagnostic) {
        let (file, batches) = (SharedWriter(writer), batches)
        self.file = file
        thread = try WorkerThread("write") { Self.write(batches, into: file.writer) }
    }

    deinit { _ = join() }

    private static func write(_ batches: BoundedQueue<RecipientBatch>, into writer: RunWriter) -> (any Error)? {
        do {
            while let batch = batches.take() { try writer.put(batch) }
            return nil
        } catch {
            // The caller gets the error when it adds the next batch.
            batches.close()
            return error
        }
    }

    /// - Throws: the error that kept an earlier batch from being written.
    func put(_ batch: RecipientBatch) throws {
        if !batches.put(batch) { try finishWriting() }
    }

    /// Waits until all is written, then removes the dropped slots.
    func finish(slots: Int, dropping dropped: BitSet) throws {
        try finishWriting()
        try file.writer.drop(dropped, of: slots)
    }

    private func finishWriting() throws {
        if let error = join() { throw error }
    }

    private func join() -> (any Error)? {
        batches.close()
        defer { thread = nil }
        return thread?.join()
    }
}

/// The first devices of an audience with the cells of all columns: another text of the campaign can
/// be rendered for them without reading the exports again.
public struct SampledDevices: Sendable {
    /// How many devices are kept, and of how many it is counted which cells are blank.
    static let most = 60, mostLooked = 10_000

    /// The columns of the cells.
    let columns: [String]
    /// Their fields are in the order of the columns.
    let devices: [Recipient]
    /// For how many devices of the audience, of those that were looked at, each column is blank.
    /// Devices that get nothing because a text needs such a value count, too.
    private let blanks: [Int]
    private let looked: Int

    /// - Parameters:
    ///   - columns: the first fields of recipients.
    ///   - kept: recipients by their slots.
    init(columns: [String], kept: [Int: Recipient]) {
        self.columns = columns
        looked = kept.count
        blanks = columns.indices.map { place in kept.values.count { Blank.isText($0.fields[place]) } }
        devices = kept.sorted { $0.key < $1.key }.prefix(Self.most).map { _, recipient in
            var recipient = recipient
            recipient.fields = Array(recipient.fields.prefix(columns.count))
            return recipient
        }
    }

    /// What `json` wrote; nil for anything else.
    public init?(_ json: JSONValue?) {
        func texts(_ value: JSONValue?) -> [String]? {
            guard case .array(let items)? = value else { return nil }
            let texts = items.compactMap(\.stringValue)
            return texts.count == items.count ? texts : nil
        }
        guard let columns = texts(json?["columns"]), case .array(let items)? = json?["devices"],
            let looked = json?["looked"]?.integerValue, case .array(let blanks)? = json?["blanks"],
            blanks.count == columns.count
        else { return nil }
        self.columns = columns
        (self.looked, self.blanks) = (Int(looked), blanks.map { Int($0.integerValue ?? 0) })
        devices = items.compactMap { item in
            guard let token = item["token"]?.stringValue, let alias = item["alias"]?.stringValue,
                let language = item["language"]?.stringValue, let cells = texts(item["cells"]),
                cells.count == columns.count
            else { return nil }
            return Recipient(token: Target(normalized: token), alias: alias, language: language, fields: cells)
        }
    }

    /// For another process. It holds whole tokens, which decide about variants, and cells: no page
    /// may show it.
    public var json: JSONValue {
        .object(pairs: [
            ("columns", .array(columns.map { .string($0) })),
            ("looked", .integer(Int64(looked))), ("blanks", .array(blanks.map { .integer(Int64($0)) })),
            (
                "devices",
                .array(
                    devices.map { device in
                        .object(pairs: [
                            ("token", .string(device.token.text)), ("alias", .string(device.alias)),
                            ("language", .string(device.language)),
                            ("cells", .array(device.fields.map { .string($0) })),
                        ])
                    })
            ),
        ])
    }

    /// The share of the audience for which a column is blank, as far as its first devices show; nil
    /// for what is no column of theirs.
    public func shareBlank(_ column: String) -> Double? {
        columns.firstIndex(of: column).flatMap { looked > 0 ? Double(blanks[$0]) / Double(looked) : nil }
    }

    /// What the devices would get of a campaign's text. No row of an export is read.
    /// - Parameter most: how many devices of each text, at most.
    /// - Returns: `samples` as in `preview --json`, and the places of those whose devices lack a
    ///   value; nil where that needs the exports, as the text has a mistake, or names something
    ///   that is no column of theirs.
    public func samples(of campaign: CampaignFile, most: Int, at now: Timestamp) -> (
        samples: [JSONValue], blanks: [Int]
    )? {
        guard let context = try? CampaignContext.read(campaign, now: now), context.app.services.count == 1 else {
            return nil
        }
        let messages = context.messages
        let places = messages.columns.compactMap { columns.firstIndex(of: $0.value) }
        guard places.count == messages.columns.count else { return nil }
        var chooser = MessageChooser(messages)
        var found: [(message: Int, json: JSONValue, hasBlank: Bool)] = []
        for device in devices {
            guard let number = chooser.message(of: device), found.count(where: { $0.message == number }) < most else {
                continue
            }
            var recipient = device, payload: [UInt8] = []
            recipient.fields = places.map { device.fields[$0] }
            let message = messages.messages[number]
            guard message.template.render(recipient.fields, language: recipient.language, into: &payload) == nil else {
                continue
            }
            let sample = PreviewSample(
                recipient: recipient, message: number, service: messages.services[message.service], serviceName: "",
                variant: message.variant, language: message.language, payload: payload, selectedBy: [])
            found.append((number, sample.json.withoutTokens, recipient.fields.contains(where: Blank.isText)))
        }
        // In the order of the messages, as a preview has them.
        let ordered = found.enumerated().sorted { ($0.element.message, $0.offset) < ($1.element.message, $1.offset) }
            .map(\.element)
        return (ordered.map(\.json), ordered.indices.filter { ordered[$0].hasBlank })
    }
}
