/// What Getui's targets look like: the client id (cid) that its SDK gives an app on a device.
/// Source: docs.getui.com, "user"; all examples there have 32 hex digits in lower case.
extension Getui {
    /// Client ids.
    public var target: TargetForm { Self.targets }

    static let digits = 32

    static let targets = TargetForm(
        .hex(digits: digits...digits), tellingLength: digits, usualLength: digits, column: "cid", noun: "client id",
        example: "7d3f…48b3",
        writing: "in hex",
        rule: "A client id (cid) is \(digits) hex digits", remedy: "Copy the whole client id; it has \(digits) digits.",
        foreignShapes: [
            .base64: "it is written in base64, and client ids in hex digits",
            .hexDigits: "it is a device token of APNs, and Getui needs the client id that its SDK gives the app",
        ])
}
