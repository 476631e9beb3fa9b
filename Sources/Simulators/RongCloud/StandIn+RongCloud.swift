extension StandIn {
    static let rongcloud = StandIn(
        service: "rongcloud", displayName: "RongCloud",
        rules: """
            Requests are signed with the app secret of volley.yaml, or with a new one for the app key volleysimulator, which is written to a \
            file. It takes 100 recipients a second, or as many as --limit-per-minute says. A request to a user whose ID begins with 0000 and a \
            code gets that code: 00001002 is 400, 00001005 400, 00001009 430, 00002007 403, 00001050 504; 00001000 (500) and 00001008 (429) are \
            refused once and then accepted. Whether a user exists is never said.
            """,
        credential: .secret(app: StandInName("app_key", "volleysimulator"), names: [], key: "app_secret"), keyFile: "app-secret.txt",
        ignoresCase: false, gone: nil, unknown: nil, isLimited: true, start: { try RongCloudSimulator($0) })
}
