import Base

/// The cids that were given out, and the results of the pushes that carried them. Source:
/// docs.jiguang.cn, Push API v3, "cid": one from the pool is good for a day; a push with one that
/// was taken before is not sent again, and gets the answer of the first.
struct CidPool {
    /// What a push that carries a cid may do.
    enum Finding: Equatable {
        /// The push continues.
        case fresh
        /// It was taken before, with this answer.
        case taken(messageID: String)
        /// It is not a cid, is another app's, or is older than a day.
        case unknown
    }

    private static let lifetimeSeconds = 86_400.0

    private struct Cid {
        let app: String, end: Timestamp
        var messageID: String?
    }

    private var cids: [String: Cid] = [:]

    /// Gives out cids.
    mutating func give(_ count: Int, to app: String, now: Timestamp) -> [String] {
        (0..<count).map { _ in
            var bytes: [UInt8] = []
            PushID(runSeed: .random(), recipient: 0).append(to: &bytes)
            let cid = "\(app)-\(String(decoding: bytes, as: UTF8.self))"
            cids[cid] = Cid(app: app, end: now.adding(seconds: Self.lifetimeSeconds))
            return cid
        }
    }

    func finding(_ cid: String, of app: String, now: Timestamp) -> Finding {
        guard let known = cids[cid], known.app == app, now < known.end else { return .unknown }
        return known.messageID.map { .taken(messageID: $0) } ?? .fresh
    }

    /// Notes the push that carried a cid.
    mutating func take(_ cid: String, messageID: String) { cids[cid]?.messageID = messageID }
}
