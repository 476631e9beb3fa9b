extension StandIn {
    /// A strict stand-in for APNs on a loopback port, with its own thread.
    ///
    /// It checks every request as APNs would, and more strictly where Apple's documentation forbids
    /// something that APNs is known to accept. `RequestChecker` documents its answers,
    /// `SimulatorFaults` the faults that you can configure, and `TokenRules` the device tokens with
    /// fixed answers.
    public static let apns = StandIn(
        service: "apns", displayName: "APNs",
        rules: """
            Accepts provider tokens signed with the keys of volley.yaml, or makes a key if there is none. Device tokens that begin with \
            00000410 get the answer 410 Unregistered, 00000400 gets 400 BadDeviceToken; 00000429 and 00000503 are refused once and then \
            accepted. It also keeps broadcast channels, until it ends: `volley channels create` makes one.
            """, credential: .signingKey(keyID: "SIMULATOR1", teamID: "VOLLEYTEAM"), keyFile: "AuthKey_SIMULATOR1.p8",
        ignoresCase: true,
        gone: SimulatedAnswer(status: 410, reason: "Unregistered"),
        unknown: SimulatedAnswer(status: 400, reason: "BadDeviceToken"),
        guardsConnections: true, makeRules: { configuration, _ in APNsRules(configuration) })
}
