/// What FCM's targets look like.
///
/// A device has two names: a registration token (`token`), and since June 2026 its Firebase
/// installation id (`fid`), which replaces it. Which one a row holds follows from its length, row
/// by row: an installation id always has 22 characters, and a token, which begins with one and
/// continues with a colon and a signature, has more than 100. So a column may hold both while an
/// app moves from one to the other, nothing needs to be set, and nothing is guessed.
/// Source: firebase-js-sdk, `generateFid`: 17 bytes in base64url, cut to 22 characters. Google
/// documents no length of tokens: those of today have 142 to 170 characters, and GCM allowed 4,096.
extension FCM {
    /// Tokens and installation ids.
    public var target: TargetForm { Self.targets }

    static let installationIDLength = 22, shortestToken = 100

    static let targets = TargetForm(
        .text(
            ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-:"),
            length: installationIDLength...4096,
            except: (installationIDLength + 1)...(shortestToken - 1)), tellingLength: shortestToken,
        column: "fcm_token",
        noun: "registration token",
        example: "dPx3…Q9aB", writing: "as FCM gives it out",
        rule:
            "A registration token has at least \(shortestToken) characters, a Firebase installation id \(installationIDLength): letters, digits, -, _ and :",
        remedy: "Copy the whole token; most have about 150 characters.",
        foreignShapes: [
            .hexDigits:
                "it is a device token of APNs, which FCM does not know: FCM has a registration token for iPhones, too",
            .uuid: "it is a UUID, and a Firebase installation id has \(installationIDLength) characters",
        ])
}
