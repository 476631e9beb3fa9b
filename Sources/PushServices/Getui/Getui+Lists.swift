import Base

/// Lists: Getui is handed a text once (`/push/list/message`) and keeps it as a task, to which up to 1,000 devices are then named at a time
/// (`/push/list/cid`). The text does not travel again, but a list has no `request_id`: Getui does not recognize one that comes again.
/// Source: docs.getui.com, RestAPI V2, "push", toList; the SDK for Java, `PushApi.createMsg` and `pushListByCid`.
extension Getui {
    /// The key that has lists sent.
    static let lists = AccountSwitch(
        "lists",
        description:
            "Whether more than 200 devices that share a text get it as a list of up to 1,000. That is faster, but Getui does not recognize a "
            + "list that comes again: where an answer is lost, up to 1,000 devices are unknown.")

    /// The switches that are on.
    public var switchedOn: Set<String> { usesLists ? [Self.lists.key] : [] }

    /// Getui with lists, or without.
    public func switched(on names: Set<String>) -> any PushService { Getui(usesLists: names.contains(Self.lists.key)) }
}

/// The requests of lists.
enum GetuiList {
    private static let shortestSeconds = 60.0

    /// The devices of a list.
    /// - Parameter task: the id that Getui gave the text.
    static func append(_ call: RequestCall, task: String, to bytes: inout [UInt8]) {
        bytes += "{\"audience\":{\"cid\":[".utf8
        for (index, push) in call.enumerated() {
            bytes += (index == 0 ? "\"" : ",\"").utf8
            bytes += push.target
            bytes.append(UInt8(ascii: "\""))
        }
        bytes += "]},\"taskid\":".utf8
        JSONWriter.appendString(task, to: &bytes)
        bytes += ",\"is_async\":false}".utf8
    }

    /// How Getui is handed texts. It keeps one for as long as the message lives; a tenth of that is left for requests that wait.
    static func texts(_ options: PushOptions, _ message: GetuiMessage) -> KeptTexts {
        let expiration = options.expiration
        return KeptTexts(
            path: "/v2/\(options.topic)/push/list/message",
            body: { payload, now, bytes in message.appendMessage(payload, now: now, to: &bytes) },
            usableSeconds: { now in
                let life = expiration.map { min($0 - now, GetuiMessage.longestSeconds) } ?? GetuiMessage.usualSeconds
                return max(shortestSeconds, Double(life) * 0.9)
            },
            read: { body in body["code"] == .integer(0) ? body["data"]?["taskid"]?.stringValue : nil })
    }
}
