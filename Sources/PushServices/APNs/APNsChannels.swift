public import Base

/// Broadcast channels of Live Activities: how they are made, listed and deleted, as data.
/// Source: Apple, "Sending channel management requests to APNs".
public enum APNsChannels {
    static let broadcastPath = "/4/broadcasts/apps/"
    static let channelHeader = "apns-channel-id", requestIDHeader = "apns-request-id"
    static let rule = "A channel's id is base64, as `volley channels list` shows it"
    /// More than any id that APNs gives out; their length is not fixed.
    private static let longestID = 256

    /// What a channel keeps for phones that are off.
    public enum Storage: Int64, CaseIterable, Sendable {
        /// Nothing, which allows more broadcasts.
        case nothing = 0
        /// The newest broadcast, until it expires.
        case newest = 1

        /// In commands and JSON.
        public var name: String { self == .nothing ? "nothing" : "newest" }
    }

    /// An id; nil for a text that cannot be one.
    @Sendable public static func id(_ text: String) -> String? {
        let digits = text.prefix { $0 != "=" }, padding = text.dropFirst(digits.count)
        let isID =
            (1...longestID).contains(text.utf8.count) && !digits.isEmpty && padding.utf8.count <= 2 && padding.allSatisfy { $0 == "=" }
            && digits.utf8.allSatisfy { ASCIISet.lettersAndDigits.contains($0) || "+/-_".utf8.contains($0) }
        return isID ? text : nil
    }

    /// A question to the server that manages channels.
    public struct Question: Sendable {
        /// What is done.
        public enum Method: String, Sendable {
            /// Reads.
            case get = "GET"
            /// Makes a channel.
            case post = "POST"
            /// Deletes one.
            case delete = "DELETE"
        }

        /// What is done.
        public let method: Method
        /// The whole path.
        public let path: String
        /// The channel that it is about; nil for none.
        public let channel: String?
        /// Empty for none.
        public let body: [UInt8]
        /// The status of the answer if it was done.
        public let goodStatus: Int

        /// What the request adds to those of the connection.
        public var headers: [RequestTemplate.Header] {
            (channel.map { [.init(channelHeader, value: $0)] } ?? [])
                + (body.isEmpty ? [] : [.init("content-type", value: "application/json")])
        }

        private init(_ method: Method, _ path: String, channel: String? = nil, body: [UInt8] = [], goodStatus: Int) {
            (self.method, self.path, self.channel, self.body, self.goodStatus) = (method, path, channel, body, goodStatus)
        }

        /// Makes a channel; the answer names it in a header (`idHeader`).
        public static func create(bundle: String, _ storage: Storage) -> Question {
            let body = JSONValue.object(pairs: [
                ("message-storage-policy", .integer(storage.rawValue)), ("push-type", .string("LiveActivity")),
            ])
            return Question(.post, "/1/apps/\(bundle)/channels", body: Array(body.text.utf8), goodStatus: 201)
        }

        /// Lists the ids of all channels.
        public static func list(bundle: String) -> Question { Question(.get, "/1/apps/\(bundle)/all-channels", goodStatus: 200) }

        /// Reads what a channel keeps.
        public static func read(_ channel: String, bundle: String) -> Question {
            Question(.get, "/1/apps/\(bundle)/channels", channel: channel, goodStatus: 200)
        }

        /// Deletes a channel for good.
        public static func delete(_ channel: String, bundle: String) -> Question {
            Question(.delete, "/1/apps/\(bundle)/channels", channel: channel, goodStatus: 204)
        }
    }

    /// The header of an answer that names the channel that was made.
    public static let idHeader = channelHeader

    /// The ids in an answer to `list`; nil for another answer.
    public static func ids(in answer: JSONValue) -> [String]? {
        guard case .array(let list)? = answer["channels"] else { return nil }
        let ids = list.compactMap { $0.stringValue.flatMap(id) }
        return ids.count == list.count ? ids : nil
    }

    /// What a channel keeps, in an answer to `read`; nil for another answer.
    public static func storage(in answer: JSONValue) -> Storage? {
        answer["message-storage-policy"]?.integerValue.flatMap { Storage(rawValue: $0) }
    }

    /// The server that manages the channels of an environment, with its port.
    public static func server(of environment: ServiceEnvironment) -> (host: String, port: Int) {
        environment.name == APNs.sandbox.name
            ? ("api-manage-broadcast.sandbox.push.apple.com", 2195) : ("api-manage-broadcast.push.apple.com", 2196)
    }
}
