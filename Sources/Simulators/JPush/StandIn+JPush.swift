extension StandIn {
    static let jpush = StandIn(
        service: "jpush", displayName: "JPush",
        rules: """
            Takes Basic credentials of the app key and master secret of volley.yaml, or of a new one, whose file is written there. A \
            registration id has 10 to 30 letters and digits. Those that begin with 00001003 are refused with 1003, and 00001011 belong to no \
            device; 00000429, 00000500 and 00000503 make their call fail once. At most 600 calls are taken in a minute, and at most \
            10 pushes to everyone in a day.
            """,
        credential: .secret(app: StandInName("app_key", "0123456789abcdef01234567"), names: [], key: "master_secret"),
        keyFile: "jpush-master-secret.txt", ignoresCase: false, gone: SimulatedAnswer(status: 400, reason: "1011"),
        unknown: SimulatedAnswer(status: 400, reason: "1003"), isLimited: true, mayLackDetails: true, hasOwnAudiences: true,
        start: { try JPushSimulator($0) })
}
