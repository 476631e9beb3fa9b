extension StandIn {
    static let apns = StandIn(
        service: "apns", displayName: "APNs",
        rules: """
            Takes provider tokens signed with the keys of volley.yaml, or makes a key when there is none. Tokens that begin with \
            00000410 are answered 410 Unregistered, 00000400 BadDeviceToken; 00000429 and 00000503 are refused once and then accepted.
            """, keyID: "SIMULATOR1", teamID: "VOLLEYTEAM", keyFile: "AuthKey_SIMULATOR1.p8",
        gone: SimulatedAnswer(status: 410, reason: "Unregistered"), unknown: SimulatedAnswer(status: 400, reason: "BadDeviceToken"),
        start: { try APNsSimulator($0) })
}
