/// What RongCloud's targets look like: the ids that the app gave its users.
/// Source: rongcloud/server-sdk-python, `User.register`: letters, digits, `+`, `=`, `-` and `_`, at
/// most 64 bytes.
extension RongCloud {
    /// User IDs. Names and numbers look the same, so none tells that it is one.
    public var target: TargetForm { Self.targets }

    static let mostUserCharacters = 64

    static let targets = TargetForm(
        .text(
            ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+=-_"),
            length: 1...mostUserCharacters),
        tellingLength: nil, areUsers: true, column: "rongcloud_user_id", noun: "user ID", example: "user…0815",
        writing: "as the app gave it to RongCloud",
        rule: "A user ID has 1 to \(mostUserCharacters) letters, digits, +, =, - and _",
        remedy: "Write the ID with which the app registers the user at RongCloud.",
        foreignShapes: [
            .fcm: "it is a registration token of a device, and RongCloud has user IDs",
            .email: "it is an e-mail address, and a user ID of RongCloud has no @",
        ])
}
