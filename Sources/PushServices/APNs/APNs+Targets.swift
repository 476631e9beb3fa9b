/// What device tokens look like. Source: Apple,
/// `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`: "device tokens are of
/// variable length. Do not hard-code their size." So a token is refused only if it can never be
/// one: other characters, half a byte, fewer than 8 or more than 512 digits.
extension APNs {
    /// Bytes in hex; most tokens have 64 digits.
    public var target: TargetForm { Self.deviceTokens }

    static let deviceTokens = TargetForm(
        .hex(digits: 8...512), tellingLength: 32, usualLength: 64, writing: "in hex",
        rule: "A token is hex digits only, an even number of them",
        remedy: "Copy the whole token; most have 64 digits.",
        foreignShapes: [
            .fcm: "it is a token of FCM, which APNs does not know",
            .base64: "it is written in base64, and APNs' tokens in hex digits",
        ])
}
