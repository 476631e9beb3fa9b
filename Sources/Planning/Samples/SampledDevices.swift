import Audience
public import Base
import Campaigns
import Content
import PushServices

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
