public import Base

/// A maker of phones in China whose own service shows what Getui, JPush and RongCloud send while an
/// app is not running, by classes: few pushes a day of the class that holds marketing, and as many
/// as wanted of the other one. Sources: docs.getui.com, "mobile/vendor/qps"; docs.jiguang.cn,
/// "android_3rd_qps"; Huawei, "push-msg-freq-control"; dev.mi.com, 1656.
public enum PhoneMaker: String, CaseIterable, Sendable {
    case huawei, honor, xiaomi, oppo, vivo, meizu

    /// The name that people use.
    public var displayName: String {
        switch self {
        case .huawei: "Huawei"
        case .honor: "Honor"
        case .xiaomi: "Xiaomi"
        case .oppo: "OPPO"
        case .vivo: "vivo"
        case .meizu: "Meizu"
        }
    }

    /// What people write instead: its short names, and its other brands.
    static let otherNames: [String: PhoneMaker] = [
        "hw": .huawei, "ho": .honor, "mi": .xiaomi, "xm": .xiaomi, "redmi": .xiaomi, "op": .oppo, "oneplus": .oppo,
        "realme": .oppo,
        "vv": .vivo, "iqoo": .vivo,
    ]

    /// Whether its phones may show nothing in `nightHours`, of whatever class.
    public var isQuietAtNight: Bool { self == .huawei || self == .honor }

    /// By the phone's clock.
    public static let nightHours = 0..<6

    /// The key without which it may not show a push.
    var demandedKey: MakerKey? {
        switch self {
        case .oppo, .vivo: .category
        // Of apps that have moved to its channels; the others have one push a day.
        case .xiaomi: .channel
        case .huawei, .honor, .meizu: nil
        }
    }

    /// The values of `category` that leave a push in the class of marketing. Source: Huawei,
    /// "message classification"; OPPO and vivo, "message classes" of 2024.
    private var marketingCategories: Set<String> {
        self == .huawei ? ["MARKETING"] : ["MARKETING", "NEWS", "CONTENT", "SOCIAL"]
    }

    /// How many pushes of the marketing class a phone shows of an app in a day, if the app is not
    /// one for news; nil where the content puts itself into the other class.
    public func mostADay(_ content: MessageContent, through service: any PushService) -> Int? {
        guard !isOfServiceClass(content, service.rules) else { return nil }
        return switch self {
        case .huawei, .honor, .oppo, .vivo: 2
        case .meizu: 3
        case .xiaomi: content.value(of: .channel, for: self, service.rules) == nil ? 1 : 5
        }
    }

    private func isOfServiceClass(_ content: MessageContent, _ rules: CampaignRules) -> Bool {
        if let byHand = rules.classesByHand, byHand.claimsServiceClass(content.own) { return true }
        func value(_ key: MakerKey) -> String? { content.value(of: key, for: self, rules) }
        return switch self {
        case .huawei, .oppo: value(.category).map { !marketingCategories.contains($0.uppercased()) } ?? false
        case .honor: value(.importance) == "normal"
        case .vivo: value(.classification) == "system"
        // The app's channel decides, and Volley cannot tell of which class it is.
        case .xiaomi, .meizu: false
        }
    }
}

/// Where content may hold classes of makers in a service's own words, next to `makers`.
struct ClassesByHand: Sendable {
    /// The group of the service's options. Its `classification` holds for all makers.
    let options: String
    /// The group in it with the makers' channels.
    let channels: String
    /// The makers' names and keys in these channels.
    let forms: [MakerForm]

    /// Whether the options put a push into the other class than marketing at all makers.
    fileprivate func claimsServiceClass(_ own: [ContentMember]) -> Bool {
        if case .integer(1, _)? = own.members(of: options).value(of: MakerKey.classification.rawValue) {
            true
        } else {
            false
        }
    }

    /// What the options say to a maker, in the words of `makers`.
    fileprivate func value(of key: MakerKey, for maker: PhoneMaker, in own: [ContentMember]) -> String? {
        guard let form = forms.first(where: { $0.maker == maker }),
            let name = form.keys.first(where: { $0.key == key })?.name,
            let value = own.members(of: options).members(of: channels).members(of: form.name).value(of: name)
        else { return nil }
        var text = value.textValue
        if case .integer(let number, _) = value { text = String(number) }
        return text.map { text in key.words?.first { $0.value == text }?.word ?? text }
    }
}

/// What a campaign may say to a maker: a key below its name.
enum MakerKey: String {
    case category, channel, importance, classification, template

    /// The words that it takes, marketing first, with what they are to makers; nil for any text.
    var words: [(word: String, value: String)]? {
        switch self {
        case .importance: [("low", "LOW"), ("normal", "NORMAL")]
        case .classification: [("operational", "0"), ("system", "1")]
        case .category, .channel, .template: nil
        }
    }
}

/// How a service passes on what a campaign says to a maker.
struct MakerForm {
    let maker: PhoneMaker
    /// The maker's name in payloads.
    let name: String
    /// The keys of a campaign, with their names in payloads.
    let keys: [(key: MakerKey, name: String)]

    init(_ maker: PhoneMaker, _ name: String, _ keys: [(MakerKey, String)]) {
        (self.maker, self.name, self.keys) = (maker, name, keys.map { (key: $0, name: $1) })
    }
}

extension CampaignRules {
    /// The group of keys of makers.
    static let makersKey = "makers"
    /// The group of keys of HarmonyOS.
    static let harmonyKey = "harmony"

    /// Whether makers show the service's pushes.
    public var reachesMakers: Bool { ownKeys.contains { $0.key == Self.makersKey } }

    /// `makers`, with its description for editors.
    static func makers(_ forms: [MakerForm]) -> (key: String, description: String) {
        let makers = forms.map { form in
            "\(form.maker.rawValue) (\(form.keys.map(\.key.rawValue).joined(separator: ", ")))"
        }
        let what = "The class of the push at the makers of phones, which show it while the app is not running"
        return (makersKey, "\(what): \(makers.joined(separator: ", ")).")
    }

    /// `makers` and `harmony`, for editors.
    /// - Parameter harmony: the keys next to `category`.
    static func forms(_ makers: [MakerForm], harmony: [(key: String, form: OwnForm)] = []) -> [String: OwnForm] {
        let groups = makers.map { form in
            let keys = form.keys.map {
                (key: $0.key.rawValue, form: $0.key.words.map { .words($0.map(\.word)) } ?? OwnForm.text)
            }
            return (key: form.maker.rawValue, form: OwnForm.group(keys))
        }
        let category = MakerKey.category.rawValue
        return [
            makersKey: .group(groups),
            harmonyKey: .group([(key: category, form: .text)] + harmony, required: [category]),
        ]
    }
}

// MARK: - What a campaign says

extension MessageContent {
    /// What it says to a maker.
    fileprivate func value(of key: MakerKey, for maker: PhoneMaker, _ rules: CampaignRules) -> String? {
        own.members(of: CampaignRules.makersKey).members(of: maker.rawValue).value(of: key.rawValue)?.textValue
            ?? rules.classesByHand?.value(of: key, for: maker, in: own)
    }

    /// What this content of a service that makers show lacks, although they demand it: makers with
    /// the key, and HarmonyOS as nil. Nothing for payloads that are written by hand.
    public func lackedByMakers(_ service: any PushService) -> [(maker: PhoneMaker?, key: String)] {
        guard service.rules.reachesMakers, payload == nil, !isSilent else { return [] }
        let makers = PhoneMaker.allCases.compactMap { maker -> (maker: PhoneMaker?, key: String)? in
            guard let key = maker.demandedKey, value(of: key, for: maker, service.rules) == nil else { return nil }
            return (maker, key.rawValue)
        }
        return makers + (own.value(of: CampaignRules.harmonyKey) == nil ? [(nil, MakerKey.category.rawValue)] : [])
    }

    /// How many marketing pushes of an app phones with HarmonyOS show in a day; nil where it is of
    /// another class, or does not go there.
    public var mostADayOnHarmony: Int? {
        guard own.value(of: CampaignRules.harmonyKey) != nil else { return nil }
        let category = own.members(of: CampaignRules.harmonyKey).value(of: MakerKey.category.rawValue)?.textValue
        return category?.uppercased() ?? "MARKETING" == "MARKETING" ? 2 : nil
    }
}

extension ContentNode {
    /// Its text; nil for anything else.
    var textValue: String? { if case .text(let text) = self { text.value } else { nil } }
}
