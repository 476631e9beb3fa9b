/// The name of a warning: in brackets at its end, in JSON as `name`, and in a campaign's `allow`.
/// docs/reference/warnings.md explains each. Those here are Volley's own; a service's rules may add
/// others (`PushService.warnings`).
public struct WarningName: Hashable, Sendable {
    /// As people write it.
    public let rawValue: String
    /// What it is found in. A warning can only be said to be gone if its source was examined.
    public let sources: Set<Source>

    /// A name.
    public init(_ rawValue: String, from sources: Set<Source>) {
        self.rawValue = rawValue
        self.sources = sources
    }

    /// Names are equal if people write them in the same way.
    public static func == (left: WarningName, right: WarningName) -> Bool { left.rawValue == right.rawValue }

    /// Hashes what people write.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// What must be examined before a warning can be given.
    public enum Source: CaseIterable, Hashable, Sendable {
        /// The campaign and volley.yaml.
        case files
        /// The headers of the exports.
        case headers
        /// Their rows.
        case rows
        /// Keys and certificates.
        case credentials
    }
}

extension WarningName {
    // What the campaign and volley.yaml show.
    /// `curly-quotes`
    public static let curlyQuotes = WarningName("curly-quotes", from: [.files])
    /// `comment-in-text`
    public static let commentInText = WarningName("comment-in-text", from: [.files])
    /// `number-changed`
    public static let numberChanged = WarningName("number-changed", from: [.files])
    /// `condition-in-list`
    public static let conditionInList = WarningName("condition-in-list", from: [.files])
    /// `mixed-conditions`
    public static let mixedConditions = WarningName("mixed-conditions", from: [.files])
    /// `odd-language`
    public static let oddLanguage = WarningName("odd-language", from: [.files])
    /// `odd-timezone`
    public static let oddTimezone = WarningName("odd-timezone", from: [.files])
    /// `password-in-file`
    public static let passwordInFile = WarningName("password-in-file", from: [.files])
    /// `not-carried`
    public static let notCarried = WarningName("not-carried", from: [.files])
    /// `simulator-and-production`
    public static let simulatorAndProduction = WarningName("simulator-and-production", from: [.files])
    /// `expiry-too-long`
    public static let expiryTooLong = WarningName("expiry-too-long", from: [.files])
    /// `expires-soon`
    public static let expiresSoon = WarningName("expires-soon", from: [.files])
    /// `schedule-past`
    public static let schedulePast = WarningName("schedule-past", from: [.files])
    /// `schedule-far`
    public static let scheduleFar = WarningName("schedule-far", from: [.files])
    /// `time-in-quiet-hours`
    public static let timeInQuietHours = WarningName("time-in-quiet-hours", from: [.files])
    /// `time-in-gap`
    public static let timeInGap = WarningName("time-in-gap", from: [.files])
    /// `maker-category`
    public static let makerCategory = WarningName("maker-category", from: [.files])
    // `repeat` may show it; the runs of the day show it for devices of the audience.
    /// `maker-cap`
    public static let makerCap = WarningName("maker-cap", from: [.files, .rows])
    // Only the rows show for which devices it is too late.
    /// `expires-before-schedule`
    public static let expiresBeforeSchedule = WarningName("expires-before-schedule", from: [.files, .rows])
    /// `expires-in-utc`
    public static let expiresInUTC = WarningName("expires-in-utc", from: [.files])
    /// `opt-out-targeted`
    public static let optOutTargeted = WarningName("opt-out-targeted", from: [.files, .headers])
    /// `days-united`
    public static let daysUnited = WarningName("days-united", from: [.files])
    /// `repeat-uneven`
    public static let repeatUneven = WarningName("repeat-uneven", from: [.files])
    /// `day-is-midnight`
    public static let dayIsMidnight = WarningName("day-is-midnight", from: [.rows])
    /// `unused-allow`
    public static let unusedAllow = WarningName("unused-allow", from: [.files])

    // What the content of a push shows.
    /// `partly-translated`
    public static let partlyTranslated = WarningName("partly-translated", from: [.files])
    /// `variant-not-translated`
    public static let variantNotTranslated = WarningName("variant-not-translated", from: [.files])
    /// `same-variants`
    public static let sameVariants = WarningName("same-variants", from: [.files])
    /// `plural-form-missing`
    public static let pluralFormMissing = WarningName("plural-form-missing", from: [.files])
    // The constant part of a text is known at once, the whole text when it is rendered.
    /// `text-cut-off`
    public static let textCutOff = WarningName("text-cut-off", from: [.files, .rows])
    /// `double-blank`
    public static let doubleBlank = WarningName("double-blank", from: [.files, .rows])
    /// `text-not-ready`
    public static let textNotReady = WarningName("text-not-ready", from: [.files, .rows])
    /// `sound-not-playable`
    public static let soundNotPlayable = WarningName("sound-not-playable", from: [.files])
    /// `variant-gets-text`
    public static let variantGetsText = WarningName("variant-gets-text", from: [.files])
    /// `link-without-scheme`
    public static let linkWithoutScheme = WarningName("link-without-scheme", from: [.files])
    /// `host-not-reachable`
    public static let hostNotReachable = WarningName("host-not-reachable", from: [.files])
    /// `nothing-visible`
    public static let nothingVisible = WarningName("nothing-visible", from: [.files])
    /// `silent-and-visible`
    public static let silentAndVisible = WarningName("silent-and-visible", from: [.files])
    /// `mutable-without-alert`
    public static let mutableWithoutAlert = WarningName("mutable-without-alert", from: [.files])
    /// `media-not-mutable`
    public static let mediaNotMutable = WarningName("media-not-mutable", from: [.files])
    /// `media-not-https`
    public static let mediaNotHTTPS = WarningName("media-not-https", from: [.files])
    /// `image-not-shown`
    public static let imageNotShown = WarningName("image-not-shown", from: [.files])
    /// `unknown-payload-key`
    public static let unknownPayloadKey = WarningName("unknown-payload-key", from: [.files])
    /// `time-sensitive`
    public static let timeSensitive = WarningName("time-sensitive", from: [.files])
    /// `critical-alert`
    public static let criticalAlert = WarningName("critical-alert", from: [.files])
    /// `not-tracked`
    public static let notTracked = WarningName("not-tracked", from: [.files])

    // What the headers of the exports show. Which of a device's rows is the newest matters only if
    // a device has several.
    /// `column-not-found`
    public static let columnNotFound = WarningName("column-not-found", from: [.headers, .rows])
    // In JSON, any object may have a key twice.
    /// `column-twice`
    public static let columnTwice = WarningName("column-twice", from: [.files, .headers, .rows])
    /// `stale-export`
    public static let staleExport = WarningName("stale-export", from: [.headers])
    /// `timezone-not-found`
    public static let timezoneNotFound = WarningName("timezone-not-found", from: [.headers])
    /// `odd-export`
    public static let oddExport = WarningName("odd-export", from: [.headers])
    // The list shows this, or, if it may be intended, the names in the exports.
    /// `comment-in-list`
    public static let commentInList = WarningName("comment-in-list", from: [.headers, .rows])
    /// `rounded-number`
    public static let roundedNumber = WarningName("rounded-number", from: [.files, .headers])

    // What the rows of the exports show.
    /// `foreign-targets`
    public static let foreignTargets = WarningName("foreign-targets", from: [.rows])
    /// `bad-row`
    public static let badRow = WarningName("bad-row", from: [.rows])
    /// `key-twice`
    public static let keyTwice = WarningName("key-twice", from: [.rows])
    /// `row-for-each-tag`
    public static let rowForEachTag = WarningName("row-for-each-tag", from: [.rows])
    /// `tag-separator`
    public static let tagSeparator = WarningName("tag-separator", from: [.rows])
    /// `tag-spelling`
    public static let tagSpelling = WarningName("tag-spelling", from: [.rows])
    /// `tag-not-found`
    public static let tagNotFound = WarningName("tag-not-found", from: [.rows])
    /// `alias-not-found`
    public static let aliasNotFound = WarningName("alias-not-found", from: [.rows])
    /// `registration-id-not-found`
    public static let registrationIDNotFound = WarningName("registration-id-not-found", from: [.rows])
    /// `exclusion-not-found`
    public static let exclusionNotFound = WarningName("exclusion-not-found", from: [.rows])
    /// `none-not-excluded`
    public static let noneNotExcluded = WarningName("none-not-excluded", from: [.rows])
    // A template shows by itself that a part of it applies to no device; for a condition on cells,
    // only the rows show it.
    /// `condition-never-holds`
    public static let conditionNeverHolds = WarningName("condition-never-holds", from: [.files, .rows])
    /// `cells-not-compared`
    public static let cellsNotCompared = WarningName("cells-not-compared", from: [.rows])
    /// `value-not-found`
    public static let valueNotFound = WarningName("value-not-found", from: [.rows])
    /// `language-not-spoken`
    public static let languageNotSpoken = WarningName("language-not-spoken", from: [.rows])
    /// `timezones-unknown`
    public static let timezonesUnknown = WarningName("timezones-unknown", from: [.rows])
    /// `maker-quiet-hours`
    public static let makerQuietHours = WarningName("maker-quiet-hours", from: [.rows])
    /// `sent-in-quiet-hours`
    public static let sentInQuietHours = WarningName("sent-in-quiet-hours", from: [.rows])
    /// `language-forms-unknown`
    public static let languageFormsUnknown = WarningName("language-forms-unknown", from: [.rows])
    /// `audience-empty`
    public static let audienceEmpty = WarningName("audience-empty", from: [.rows])
    /// `service-without-devices`
    public static let serviceWithoutDevices = WarningName("service-without-devices", from: [.rows])
    /// `audience-nearly-everyone`
    public static let audienceNearlyEveryone = WarningName("audience-nearly-everyone", from: [.rows])
    /// `audience-changed`
    public static let audienceChanged = WarningName("audience-changed", from: [.rows])
    /// `partly-changed`
    public static let partlyChanged = WarningName("partly-changed", from: [.rows])
    /// `audience-dropped`
    public static let audienceDropped = WarningName("audience-dropped", from: [.rows])
    /// `last-run-unfinished`
    public static let lastRunUnfinished = WarningName("last-run-unfinished", from: [.rows])
    /// `may-get-it-twice`
    public static let mayGetItTwice = WarningName("may-get-it-twice", from: [.headers, .rows])
    /// `sent-recently`
    public static let sentRecently = WarningName("sent-recently", from: [.rows])
    /// `pace-too-slow`
    public static let paceTooSlow = WarningName("pace-too-slow", from: [.rows])
    /// `slow-texts`
    public static let slowTexts = WarningName("slow-texts", from: [.rows])
    /// `store-away`
    public static let storeAway = WarningName("store-away", from: [.rows])

    // What keys and certificates show.
    /// `certificate-expires`
    public static let certificateExpires = WarningName("certificate-expires", from: [.credentials])
    /// `credentials-unusable`
    public static let credentialsUnusable = WarningName("credentials-unusable", from: [.credentials])
    /// `secret-readable`
    public static let secretReadable = WarningName("secret-readable", from: [.credentials])

    /// All of Volley's own warnings.
    public static let own: [WarningName] = [
        .curlyQuotes, .commentInText, .numberChanged, .conditionInList, .mixedConditions, .oddLanguage, .oddTimezone,
        .passwordInFile, .notCarried, .simulatorAndProduction, .expiryTooLong, .expiresSoon, .schedulePast,
        .scheduleFar, .timeInQuietHours,
        .timeInGap, .makerCategory, .makerCap, .makerQuietHours,
        .expiresBeforeSchedule, .expiresInUTC, .optOutTargeted, .daysUnited, .repeatUneven, .dayIsMidnight,
        .unusedAllow, .partlyTranslated,
        .variantNotTranslated, .sameVariants, .pluralFormMissing, .textCutOff, .doubleBlank, .textNotReady,
        .soundNotPlayable,
        .variantGetsText, .linkWithoutScheme,
        .hostNotReachable, .nothingVisible, .silentAndVisible, .mutableWithoutAlert, .mediaNotMutable, .mediaNotHTTPS,
        .imageNotShown, .unknownPayloadKey, .timeSensitive, .criticalAlert, .notTracked, .columnNotFound, .columnTwice,
        .staleExport,
        .timezoneNotFound,
        .oddExport, .commentInList, .roundedNumber, .foreignTargets, .badRow, .keyTwice, .rowForEachTag, .tagSeparator,
        .tagSpelling,
        .tagNotFound, .aliasNotFound, .registrationIDNotFound, .exclusionNotFound, .noneNotExcluded,
        .conditionNeverHolds,
        .cellsNotCompared, .valueNotFound, .languageNotSpoken, .timezonesUnknown, .sentInQuietHours,
        .languageFormsUnknown,
        .audienceEmpty, .serviceWithoutDevices, .audienceNearlyEveryone, .audienceChanged, .audienceDropped,
        .lastRunUnfinished,
        .mayGetItTwice, .sentRecently, .partlyChanged,
        .paceTooSlow, .slowTexts, .storeAway, .certificateExpires, .credentialsUnusable, .secretReadable,
    ]
}

extension WarningName {
    /// Names that earlier releases gave warnings, each with the warning that has taken its place:
    /// in `allow` they silence that one.
    public static let retired: [String: WarningName] = [
        "placeholder-in-text": .textNotReady, "markup-in-text": .textNotReady, "escape-in-text": .textNotReady,
        "garbled-text": .textNotReady, "invisible-in-text": .textNotReady,
    ]
}

/// A warning that a campaign turns off, and why.
public struct AllowedWarning: Hashable, Sendable {
    /// The warning.
    public var name: WarningName
    /// Its name as the campaign has it, which may be a retired one.
    public var written: String
    /// Why it is intended, in the words of the campaign's author.
    public var reason: String
    /// The place of the name.
    public var position: SourcePosition

    /// A warning that is allowed.
    public init(name: WarningName, written: String? = nil, reason: String, position: SourcePosition) {
        self.name = name
        self.written = written ?? name.rawValue
        self.reason = reason
        self.position = position
    }
}
