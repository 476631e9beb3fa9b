extension Answer {
    static func badRequest(_ reason: String) -> Answer { Answer(status: 400, reason: reason) }
    static func forbidden(_ reason: String) -> Answer { Answer(status: 403, reason: reason) }

    /// The JSON body of APNs; empty for 200.
    var body: [UInt8] {
        guard !isAccepted else { return [] }
        let since = invalidSinceMilliseconds.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(since)}".utf8)
    }
}
