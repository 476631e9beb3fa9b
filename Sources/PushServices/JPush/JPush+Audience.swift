import Base

/// The audiences that JPush keeps: tags and aliases that apps gave their devices with its SDK.
/// Source: docs.jiguang.cn, "Push API v3", audience: twenty tags, a thousand aliases, a thousand registration ids.
extension JPush {
    /// Everyone, tags, aliases and registration ids.
    public var ownAudience: OwnAudience? { Self.audiences }

    private static let audiences: OwnAudience = {
        let service = JPush()
        return OwnAudience(
            of: service,
            names: [
                OwnAudience.Names(.tags, mostOfCall: 20, isOnlyOne: false, rule: rule("tag"), normalize: name),
                OwnAudience.Names(.aliases, mostOfCall: 1000, isOnlyOne: true, rule: rule("alias"), normalize: name),
                OwnAudience.Names(
                    .registrationIDs, mostOfCall: 1000, isOnlyOne: true, rule: targets.rule, normalize: { targets.target($0)?.text }),
            ],
            answers: AudienceAnswers(words: [
                "1011":
                    "JPush has no device under these names: no app gave them to a device, or its devices have not been online for a year. Check the names, and app_key and region in volley.yaml.",
                badValue:
                    "JPush did not accept a name of the audience, or a value of the push. Check the names, and the campaign's content.",
            ]), request: { service.audienceRequest("/v3/push", $0) }, check: { service.audienceRequest("/v3/push/validate", $0) })
    }()

    private static let mostNameBytes = 40

    private static func rule(_ noun: String) -> String {
        "\(TextFormat.capitalized(TextFormat.withArticle(noun))) of JPush has at most \(mostNameBytes) bytes (a Chinese character has 3): "
            + "letters, digits, Chinese characters, _ and @!#$&*+=.|￥"
    }

    /// Source: docs.jiguang.cn, "Push API v3", audience, tag and alias.
    @Sendable private static func name(_ name: String) -> String? {
        let isName =
            (1...mostNameBytes).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { scalar in
                guard scalar.isASCII else { return scalar == "￥" || scalar.properties.isIdeographic }
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                return ASCIISet.lettersAndDigits.contains(byte) || "_@!#$&*+=.|".utf8.contains(byte)
            }
        return isName ? name : nil
    }
}
