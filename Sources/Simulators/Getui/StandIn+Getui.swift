extension StandIn {
    /// A strict stand-in for Getui's RestAPI V2, on a loopback port, with its own thread.
    ///
    /// `GetuiKeys` and `GetuiContent` document what it demands of messages, `GetuiTokens` of
    /// callers, `CidRules` the targets with fixed answers, and `SimulatorFaults` the faults that
    /// you can configure.
    public static let getui = StandIn(
        service: "getui", displayName: "Getui",
        rules: """
            Gives out tokens at /v2/APP/auth for proofs of the app key and master secret of volley.yaml, or of a new one, whose file is \
            written there. A client id is 32 hex digits. Those that begin with 00000090 get the status successed_ignore, 00000200 gets \
            successed_offline; those that begin with 000 and a code of Getui in five digits get their whole request that code, 00020001 for \
            example; codes that pass (2, 301, 10001, 10003, 10005, 30012 to 30015, 30018, 30019) only the first time. A request_id that comes a \
            second time is answered as if it was sent, and is not. A list has none: it is sent as often as it comes. An alias and a tag may begin \
            with such digits, too: 00020001 is an alias that no device has. At most 5 pushes to everyone and to tags are taken in a minute, and \
            at most 100 in a day.
            """,
        credential: .secret(
            app: StandInName("app_id", "SimulatorAppId00000000"),
            names: [StandInName("app_key", "SimulatorAppKey0000000")],
            key: "master_secret"),
        keyFile: "getui-master-secret.txt", ignoresCase: true,
        gone: SimulatedAnswer(status: 200, reason: "successed_ignore"),
        unknown: SimulatedAnswer(status: 400, reason: "20001"), isLimited: true, hasOwnAudiences: true,
        limitsBroadcastsPerMinute: true,
        givesOutTokens: true,
        keepsTasks: true,
        makeRules: { configuration, _ in GetuiRules(configuration) })
}
