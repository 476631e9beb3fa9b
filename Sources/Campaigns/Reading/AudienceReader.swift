import Base
import PushServices

/// Reads `audience`: the devices that get a campaign.
struct AudienceReader {
    let section: Section
    /// Those that take the app's pushes.
    let services: [any PushService]

    /// The audience; what is wrong in it was reported.
    func read() -> CampaignAudience {
        let reader = OwnAudienceReader(section: section, services: services)
        if section.mentions(OwnAudienceReader.channelKey), let broadcast = reader.broadcast() { return broadcast }
        var audience = CampaignAudience(position: section.position)
        (audience.devices, audience.deviceQuery) = DeviceSourceReader(section: section, keys: CampaignKeys.file)
            .source()
        readTags(into: &audience)
        audience.aliases = section.names("aliases")
        audience.registrationIDs = section.names("registration_ids")
        audience.everyone = section.truth("everyone") ?? false
        if let node = section.node("where") { audience.conditions = ConditionReader(section: section).conditions(node) }
        readExclude(into: &audience)
        warnOfOptOuts(audience)
        audience.aliasLimit =
            section.wholeNumber("alias_limit", in: 1...1_000_000, example: "alias_limit: 10") ?? audience.aliasLimit
        audience.maximumBadRowShare =
            section.parsed("max_bad_rows", example: "max_bad_rows: 1%", Percentage.share) ?? audience.maximumBadRowShare
        audience.shrinkLimit = section.parsed("shrinks_at_most", example: "shrinks_at_most: 50%", ShrinkNotation.limit)
        if section.has("shrinks_at_most") { audience.shrinkLimitPosition = section.place(of: "shrinks_at_most") }
        audience.by = reader.by()
        if let own = audience.ownAudience, !reader.check(audience, own) { return audience }
        checkSelectors(of: audience)
        return audience
    }

    private func readTags(into audience: inout CampaignAudience) {
        guard let node = section.node("tags") else { return }
        guard case .mapping(let entries) = node.content,
            !entries.contains(where: { $0.key.value == "file" }) || entries.count > 1
        else {
            audience.anyTags = section.names("tags")
            return
        }
        let example = "tags: {any: [discount, daily], none: [beta]}"
        guard
            let tags = Section(
                node, CampaignKeys.tags, of: CampaignKeys.file, example: example, findings: section.findings)
        else {
            return
        }
        if tags.has("file") {
            tags.findings.error(
                "'file' cannot be combined with other keys under 'tags'", at: tags.place(of: "file"),
                remedy: "Write it under 'any', for example: any: {file: tags.txt}.")
        }
        audience.anyTags = tags.names("any")
        audience.allTags = tags.names("all")
        audience.noneTags = tags.names("none")
    }

    /// Devices that do not want pushes are usually meant to be left out.
    private func warnOfOptOuts(_ audience: CampaignAudience) {
        let leftOut = audience.noneTags.names + audience.excludedTags.names
        let names = Set(leftOut.map(\.value))
        for tag in audience.anyTags.names + audience.allTags.names
        where OptOutWords.mean(tag.value) && !names.contains(tag.value) {
            section.findings.warning(.optOut(tag, isTag: true))
        }
        for tag in leftOut where OptOutWords.tagMeansOptIn(tag.value) { section.findings.warning(.optInLeftOut(tag)) }
        for condition in audience.conditions {
            let (column, values) = (condition.column, condition.test.equals)
            let means =
                OptOutWords.mean(column.value)
                && (condition.test == .present || values.contains(where: OptOutWords.isYes))
                || OptOutWords.meanOptIn(column.value) && values.contains(where: OptOutWords.isNo)
                || values.contains(where: OptOutWords.mean)
            if means { section.findings.warning(.optOut(column, isTag: false)) }
        }
    }

    private func readExclude(into audience: inout CampaignAudience) {
        guard let node = section.node("exclude") else { return }
        audience.excludes = true
        let example = "exclude: {tags: [unsubscribed]}"
        guard
            let exclude = Section(
                node, CampaignKeys.exclude, of: CampaignKeys.file, example: example, findings: section.findings)
        else {
            return
        }
        if !hasLongForm(exclude.node("tags"), findings: exclude.findings) {
            audience.excludedTags = exclude.names("tags")
        }
        audience.excludedAliases = exclude.names("aliases")
        audience.excludedRegistrationIDs = exclude.names("registration_ids")
        audience.excludedDevices = exclude.paths("devices", example: "devices: suppressed.csv")
    }

    /// `exclude: {tags: {any: […]}}`: devices with any of the tags are excluded anyway, so only the
    /// list is needed.
    private func hasLongForm(_ node: YAMLNode?, findings: Findings) -> Bool {
        guard let node, case .mapping(let entries) = node.content,
            let entry = entries.first(where: { ["any", "all", "none"].contains($0.key.value) })
        else { return false }
        let key = entry.key.value
        let remedy =
            switch key {
            case "any": "To leave out devices with any of them, write exclude: {tags: [one, two]}."
            case "all":
                "You cannot leave out only devices that have all of several tags; exclude: {tags: [one]} leaves out every device that has one."
            default: "To send only to devices that have a tag, write it under 'tags' in 'audience': tags: {all: [one]}."
            }
        findings.error(
            "'tags' under 'exclude' is a plain list and has no '\(key)'", at: entry.key.position, remedy: remedy)
        return true
    }

    private static let everyoneBut =
        "For all devices except those with such a tag, write everyone: true and exclude: {tags: […]}, without 'tags'."

    /// No device is selected by accident: `everyone` is neither assumed when there is no selector,
    /// nor combined with one.
    private func checkSelectors(of audience: CampaignAudience) {
        let selectors = ["tags", "aliases", "registration_ids"]
        if audience.everyone {
            for selector in selectors where section.has(selector) {
                // `tags: {none: […]}` alone would be refused next.
                let leavesOut = section.node(selector).map(isOnlyNone) ?? false
                section.findings.error(
                    "'everyone' cannot be combined with '\(selector)'", at: section.place(of: selector),
                    remedy: leavesOut
                        ? Self.everyoneBut
                        : "Remove one of them\(section.has("by") ? "" : "; to leave devices out, use 'exclude' or 'where'")."
                )
            }
            return
        }
        // A selector that was refused, or is misspelt, is reported already.
        let nodes = selectors.compactMap(section.node)
        let selects = nodes.contains { !isEmptySelector($0) && !isOnlyNone($0) }
        if selects, let tags = section.node("tags"), isOnlyNone(tags) {
            section.findings.error(
                "'none' takes devices away, but no tag selects any: it would add every device that has none of these tags",
                at: tags.position,
                remedy: "Name tags under 'any' or 'all' too; to leave devices out write: exclude: {tags: […]}.")
            return
        }
        let isMisspelt = selectors.contains { section.mentions($0) && !section.has($0) }
        guard !selects, !isMisspelt, !section.hasStrangeKey, !section.truthIsUnclear("everyone") else { return }
        let onlyNone = nodes.contains(where: isOnlyNone)
        section.findings.error(
            onlyNone ? "'none' takes devices away, but nothing selects any" : "the audience selects no devices",
            at: section.position,
            remedy: onlyNone
                ? Self.everyoneBut
                : "Add tags, aliases or registration_ids; to send to all devices, write everyone: true.",
            [.chooseDevices])
    }

    /// An empty list of names, or a group of empty ones.
    private func isEmptySelector(_ node: YAMLNode) -> Bool {
        switch node.content {
        case .sequence(let items): items.isEmpty
        case .mapping(let entries): entries.allSatisfy { isEmptySelector($0.value) }
        case .scalar, .unreadable: false
        }
    }

    /// `tags: {none: […]}` with nothing else.
    private func isOnlyNone(_ node: YAMLNode) -> Bool {
        guard case .mapping(let entries) = node.content else { return false }
        let others = entries.filter { $0.key.value != "none" }
        return others.count < entries.count && others.allSatisfy { isEmptySelector($0.value) }
    }
}

/// A share in percent: `1%`, `0.5%`.
enum Percentage {
    /// The share, 0 to 1.
    static func share(_ text: String) throws(Mistake) -> Double {
        let number = text.hasSuffix("%") ? text.dropLast().trimmingSpaces() : nil
        guard let number, !number.isEmpty, number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let percent = Double(number)
        else {
            throw Mistake(
                "\(quoted(text)) is not a percentage", remedy: "Write it with a percent sign, for example: 1% or 0.5%.")
        }
        guard percent <= 100 else { throw Mistake("\(quoted(text)) is more than 100%", remedy: "Write 0% to 100%.") }
        return percent / 100
    }
}

/// `audience.shrinks_at_most`: a share, or `off`.
enum ShrinkNotation {
    static let off = "off"

    /// Reads `50%`, `0.5%`, `off`.
    static func limit(_ text: String) throws(Mistake) -> ShrinkLimit {
        let text = text.trimmingSpaces()
        if text == off { return .off }
        if ["no", "none", "never", "false", "disabled", "unlimited"].contains(text.lowercased())
            || text.lowercased() == off
        {
            throw Mistake(
                "\(quoted(text)) is neither a share nor 'off'",
                remedy:
                    "To send however small the audience is now, write shrinks_at_most: off; otherwise a share, for example: 50%."
            )
        }
        if (try? Percentage.share(text)) == 0 {
            throw Mistake(
                "a limit of \(quoted(text)) would hold the campaign back as soon as a single device is gone",
                remedy: "Write a share above 0%, for example: 50%; or off.")
        }
        return .atMost(try StopReader.share(text))
    }
}
