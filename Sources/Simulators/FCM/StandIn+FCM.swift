extension StandIn {
    static let fcm = StandIn(
        service: "fcm", displayName: "FCM",
        rules: """
            Gives out access tokens at /token for assertions of the service accounts that it trusts: the one of --key, or a new one for the \
            project volley-simulator, whose file is written there. Tokens and installation ids that begin with 00000404 get the answer 404 \
            UNREGISTERED, 00000400 gets 400 INVALID_ARGUMENT, 00000403 gets 403 SENDER_ID_MISMATCH, 00000401 gets 401 \
            THIRD_PARTY_AUTH_ERROR; 00000429, 00000500 and 00000503 are refused once and then accepted. A token has 100 characters or more, an \
            installation id 22.
            """, credential: .serviceAccount(project: "volley-simulator"), keyFile: "service-account.json", ignoresCase: false,
        gone: SimulatedAnswer(status: 404, reason: "UNREGISTERED"), unknown: SimulatedAnswer(status: 400, reason: "INVALID_ARGUMENT"),
        isLimited: true, mayLackDetails: true, givesOutTokens: true, start: { try FCMSimulator($0) })
}
