/// What JPush's targets look like: the registration ids that its SDK gives an app on a device.
/// JPush documents no form. Those of today have 18 or 19 hex digits, those of its pages 11 and 12
/// letters and digits.
extension JPush {
    /// Registration ids. Numbers and names look the same, so none tells that it is one.
    public var target: TargetForm { Self.targets }

    static let targets = TargetForm(
        .text(.lettersAndDigits, length: 10...30), tellingLength: nil, column: "jpush_id", noun: "registration id",
        example: "1a0e…4f7c", writing: "as JPush gives it out",
        rule: "A registration id of JPush has 10 to 30 letters and digits, most have 18 or 19",
        remedy: "Copy the whole registration id, as JPush's SDK gives it to the app.",
        foreignShapes: [
            .hexDigits:
                "it is a device token of APNs, which JPush does not know: JPush has a registration id for iPhones, too",
            .fcm: "it is a registration token of another service, and JPush has registration ids of its own",
            .uuid: "it is a UUID, and a registration id of JPush has no hyphens",
        ])
}
