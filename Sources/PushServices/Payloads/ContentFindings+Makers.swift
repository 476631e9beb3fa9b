import Base

/// What a campaign says to makers of phones and to HarmonyOS (`PhoneMaker`), in payloads and on
/// cards.
extension ContentFindings {
    /// What a campaign says to makers, in the order of the service's forms, by the names of
    /// payloads. What is wrong with it is noted.
    /// - Parameter numbersAreTexts: whether numbers are texts in the payload.
    mutating func makers(
        _ content: MessageContent, _ forms: [MakerForm], numbersAreTexts: Bool = false
    ) -> [(name: String, members: [Member])] {
        let key = CampaignRules.makersKey, example = "For example: \(key): {oppo: {category: MARKETING}}."
        guard let groups = group(key, in: content, example: example) else { return [] }
        refuseInSilence(key, content)
        if groups.isEmpty, let place = content.own.value(of: key)?.position {
            error("'\(key)' names no maker", at: place, remedy: example)
        }
        findings += groups.repeatedNames
        for member in groups where !forms.contains(where: { $0.maker.rawValue == member.name.value }) {
            let name = member.name.value, names = forms.map(\.maker.rawValue)
            let meant =
                PhoneMaker.otherNames[name.lowercased()]?.rawValue ?? nearestName(to: name.lowercased(), among: names)
            error(
                "\(Self.service) has no keys for a maker '\(TextFormat.foreign(name, maximumBytes: 40))'",
                at: member.name.position,
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
                    "unknown key '\(TextFormat.foreign(member.name.value, maximumBytes: 40))' in '\(maker)'",
                    at: member.name.position,
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
            error(
                "'\(member.name.value)' has no text", at: member.value.position, remedy: "Write one, or remove the key."
            )
            return nil
        }
        return text
    }

    /// Notes a group that is about notifications in a push that shows none.
    mutating func refuseInSilence(_ key: String, _ content: MessageContent) {
        guard content.isSilent, let place = content.own.first(where: { $0.name.value == key })?.name.position else {
            return
        }
        error(
            "'\(key)' is about a notification, and a silent push shows none", at: place,
            remedy: "Remove it, or remove 'silent'.")
    }

    /// What a campaign says to HarmonyOS, whose pushes need a category; nil without the group, or
    /// where it cannot be read.
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
        guard let member = members.first(where: { $0.name.value == MakerKey.category.rawValue }),
            let text = nonBlankText(member)
        else {
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
