public import Base

/// A maker of phones in China whose own service shows what Getui, JPush and RongCloud send while an app is not running, by classes: few
/// pushes a day of the class that holds marketing, and as many as wanted of the other one.
/// Sources: docs.getui.com, "mobile/vendor/qps"; docs.jiguang.cn, "android_3rd_qps"; Huawei, "push-msg-freq-control"; dev.mi.com, 1656.
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
        "hw": .huawei, "ho": .honor, "mi": .xiaomi, "xm": .xiaomi, "redmi": .xiaomi, "op": .oppo, "oneplus": .oppo, "realme": .oppo,
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

    /// The values of `category` that leave a push in the class of marketing. Source: Huawei, "message classification"; OPPO and vivo,
    /// "message classes" of 2024.
    private var marketingCategories: Set<String> { self == .huawei ? ["MARKETING"] : ["MARKETING", "NEWS", "CONTENT", "SOCIAL"] }

    /// How many pushes of the marketing class a phone shows of an app in a day, if the app is not one for news; nil where the content puts
    /// itself into the other class.
    public func mostADay(_ content: MessageContent) -> Int? {
        guard !isOfServiceClass(content) else { return nil }
        return switch self {
        case .huawei, .honor, .oppo, .vivo: 2
        case .meizu: 3
        case .xiaomi: content.value(of: .channel, for: self) == nil ? 1 : 5
        }
    }

    private func isOfServiceClass(_ content: MessageContent) -> Bool {
        if JPushPayload.claimsServiceClass(content.own) { return true }
        func value(_ key: MakerKey) -> String? { content.value(of: key, for: self) }
        return switch self {
        case .huawei, .oppo: value(.category).map { !marketingCategories.contains($0.uppercased()) } ?? false
        case .honor: value(.importance) == "normal"
        case .vivo: value(.classification) == "system"
        // The app's channel decides, and Volley cannot tell of which class it is.
        case .xiaomi, .meizu: false
        }
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
        let makers = forms.map { form in "\(form.maker.rawValue) (\(form.keys.map(\.key.rawValue).joined(separator: ", ")))" }
        let what = "The class of the push at the makers of phones, which show it while the app is not running"
        return (makersKey, "\(what): \(makers.joined(separator: ", ")).")
    }

    /// `makers` and `harmony`, for editors.
    /// - Parameter harmony: the keys next to `category`.
    static func forms(_ makers: [MakerForm], harmony: [(key: String, form: OwnForm)] = []) -> [String: OwnForm] {
        let groups = makers.map { form in
            let keys = form.keys.map { (key: $0.key.rawValue, form: $0.key.words.map { .words($0.map(\.word)) } ?? OwnForm.text) }
            return (key: form.maker.rawValue, form: OwnForm.group(keys))
        }
        let category = MakerKey.category.rawValue
        return [makersKey: .group(groups), harmonyKey: .group([(key: category, form: .text)] + harmony, required: [category])]
    }
}

// MARK: - What a campaign says

extension MessageContent {
    /// What it says to a maker.
    func value(of key: MakerKey, for maker: PhoneMaker) -> String? {
        own.members(of: CampaignRules.makersKey).members(of: maker.rawValue).value(of: key.rawValue)?.textValue
            ?? JPushPayload.byHand(key, for: maker, in: own)
    }

    /// What this content of a service that makers show lacks, although they demand it: makers with the key, and HarmonyOS as nil. Nothing
    /// for payloads that are written by hand.
    public func lackedByMakers(_ service: any PushService) -> [(maker: PhoneMaker?, key: String)] {
        guard service.rules.reachesMakers, payload == nil, !isSilent else { return [] }
        let makers = PhoneMaker.allCases.compactMap { maker -> (maker: PhoneMaker?, key: String)? in
            guard let key = maker.demandedKey, value(of: key, for: maker) == nil else { return nil }
            return (maker, key.rawValue)
        }
        return makers + (own.value(of: CampaignRules.harmonyKey) == nil ? [(nil, MakerKey.category.rawValue)] : [])
    }

    /// How many marketing pushes of an app phones with HarmonyOS show in a day; nil where it is of another class, or does not go there.
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

// MARK: - Into payloads

extension ContentFindings {
    /// What a campaign says to makers, in the order of the service's forms, by the names of payloads. What is wrong with it is noted.
    /// - Parameter numbersAreTexts: whether numbers are texts in the payload.
    mutating func makers(
        _ content: MessageContent, _ forms: [MakerForm], numbersAreTexts: Bool = false
    ) -> [(name: String, members: [Member])] {
        let key = CampaignRules.makersKey, example = "For example: \(key): {oppo: {category: MARKETING}}."
        guard let groups = group(key, in: content, example: example) else { return [] }
        refuseInSilence(key, content)
        if groups.isEmpty, let place = content.own.value(of: key)?.position { error("'\(key)' names no maker", at: place, remedy: example) }
        findings += groups.repeatedNames
        for member in groups where !forms.contains(where: { $0.maker.rawValue == member.name.value }) {
            let name = member.name.value, names = forms.map(\.maker.rawValue)
            let meant = PhoneMaker.otherNames[name.lowercased()]?.rawValue ?? nearestName(to: name.lowercased(), among: names)
            error(
                "\(Self.service) has no keys for a maker '\(TextFormat.foreign(name, maximumBytes: 40))'", at: member.name.position,
                remedy: meant.map { "Did you mean '\($0)'?" } ?? "Valid here: \(names.joined(separator: ", ")).")
        }
        return forms.compactMap { form in
            guard let member = groups.first(where: { $0.name.value == form.maker.rawValue }) else { return nil }
            let members = values(of: member, form, numbersAreTexts: numbersAreTexts)
            return members.isEmpty ? nil : (form.name, members)
        }
    }

    private mutating func values(of group: ContentMember, _ form: MakerForm, numbersAreTexts: Bool) -> [Member] {
        let maker = form.maker.rawValue, valid = form.keys.map(\.key.rawValue)
        let example = "For example: \(maker): {\(valid[0]): \(form.keys[0].key.example)}."
        guard case .object(let members, _) = group.value, !members.isEmpty else {
            error("'\(maker)' must be a group of keys", at: group.value.position, remedy: example)
            return []
        }
        findings += members.repeatedNames
        var known: [Member] = []
        for member in members {
            guard let (key, name) = form.keys.first(where: { $0.key.rawValue == member.name.value }) else {
                let nearest = nearestName(to: member.name.value, among: valid).map { "Did you mean '\($0)'?" }
                error(
                    "unknown key '\(TextFormat.foreign(member.name.value, maximumBytes: 40))' in '\(maker)'", at: member.name.position,
                    remedy: nearest ?? "Valid here: \(valid.joined(separator: ", ")).")
                continue
            }
            if let node = value(of: member, key, numbersAreTexts: numbersAreTexts) { known.append((name, node)) }
        }
        return known
    }

    private mutating func value(of member: ContentMember, _ key: MakerKey, numbersAreTexts: Bool) -> PayloadNode? {
        guard let words = key.words else { return nonBlankText(member).map { .text($0) } }
        if case .text(let text) = member.value, let meant = words.first(where: { $0.word == text.value }) {
            let number = numbersAreTexts ? nil : Int64(meant.value)
            return .constant(number.map { .integer($0) } ?? .string(meant.value))
        }
        let choices = words.map(\.word).joined(separator: " or ")
        error(
            "'\(key.rawValue)' must be \(choices), not \(member.value.found)", at: member.value.position,
            remedy: "A campaign is \(words[0].word): write \(key.rawValue): \(words[0].word).")
        return nil
    }

    /// A text that is not blank; nil, and noted, if it is not there.
    mutating func nonBlankText(_ member: ContentMember) -> SourceText? {
        guard let text = text(member) else { return nil }
        guard !text.value.allSatisfy(\.isWhitespace) else {
            error("'\(member.name.value)' has no text", at: member.value.position, remedy: "Write one, or remove the key.")
            return nil
        }
        return text
    }

    /// Notes a group that is about notifications in a push that shows none.
    mutating func refuseInSilence(_ key: String, _ content: MessageContent) {
        guard content.isSilent, let place = content.own.first(where: { $0.name.value == key })?.name.position else { return }
        error("'\(key)' is about a notification, and a silent push shows none", at: place, remedy: "Remove it, or remove 'silent'.")
    }

    /// What a campaign says to HarmonyOS, whose pushes need a category; nil without the group, or where it cannot be read.
    /// - Parameter valid: the keys next to `category`.
    mutating func harmony(_ content: MessageContent, valid: [String] = []) -> [ContentMember]? {
        let key = CampaignRules.harmonyKey, category = MakerKey.category.rawValue
        let example = "For example: \(key): {\(category): MARKETING}."
        guard let own = content.own.first(where: { $0.name.value == key }) else { return nil }
        let members = members(of: key, in: content, valid: [category] + valid, example: example)
        refuseInSilence(key, content)
        guard case .object = own.value else { return nil }
        if !members.contains(where: { $0.name.value == category }) {
            error(
                "'\(key)' has no category, without which phones with HarmonyOS show no push", at: own.name.position,
                remedy: "Write the one that Huawei gave the app; MARKETING needs no permission. \(example)")
        }
        return content.isSilent ? nil : members
    }

    /// The category for HarmonyOS, which also has a limit at the services.
    mutating func harmonyCategory(_ members: [ContentMember]) -> PayloadNode? {
        guard let member = members.first(where: { $0.name.value == MakerKey.category.rawValue }), let text = nonBlankText(member) else {
            return nil
        }
        return .text(text)
    }
}

extension MakerKey {
    fileprivate var example: String {
        switch self {
        case .category: "MARKETING"
        case .channel, .template: "ID"
        case .importance, .classification: words?.first?.word ?? ""
        }
    }
}

// MARK: - What phones show

extension ShownPush {
    /// The class of the push at a maker, or on HarmonyOS.
    /// - Parameters:
    ///   - names: the keys of the payload, with their names for people.
    ///   - phone: `Huawei`
    mutating func readClass(_ group: JSONValue?, _ names: [(key: String, name: String)], of phone: String) {
        for (key, name) in names {
            guard let value = group?[key] else { continue }
            marks.append(("\(name) (\(phone))", value.stringValue ?? value.text))
        }
    }

    /// The classes of the push at all makers.
    mutating func readClasses(_ groups: JSONValue?, _ forms: [MakerForm]) {
        for form in forms {
            for (key, name) in form.keys {
                guard let value = groups?[form.name]?[name] else { continue }
                let text = value.stringValue ?? value.text
                // As a campaign has it.
                let word = key.words?.first { $0.value == text }?.word
                marks.append(("\(key.rawValue) (\(form.maker.displayName))", word ?? text))
            }
        }
    }
}
