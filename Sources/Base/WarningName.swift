/// What a warning is called: in brackets at its end, in JSON as `name`, and in a campaign's `allow`. docs/reference/warnings.md explains
/// each.
public enum WarningName: String, CaseIterable, Hashable, Sendable {
    // What the campaign and volley.yaml say.
    case curlyQuotes = "curly-quotes"
    case commentInText = "comment-in-text"
    case numberChanged = "number-changed"
    case conditionInList = "condition-in-list"
    case mixedConditions = "mixed-conditions"
    case oddLanguage = "odd-language"
    case oddTimezone = "odd-timezone"
    case passwordInFile = "password-in-file"
    case expiryTooLong = "expiry-too-long"
    case expiresSoon = "expires-soon"
    case schedulePast = "schedule-past"
    case scheduleFar = "schedule-far"
    case timeInQuietHours = "time-in-quiet-hours"
    case timeInGap = "time-in-gap"
    case expiresBeforeSchedule = "expires-before-schedule"
    case expiresInUTC = "expires-in-utc"
    case daysUnited = "days-united"
    case repeatUneven = "repeat-uneven"
    case dayIsMidnight = "day-is-midnight"
    case unusedAllow = "unused-allow"

    // What a push says.
    case partlyTranslated = "partly-translated"
    case variantNotTranslated = "variant-not-translated"
    case sameVariants = "same-variants"
    case pluralFormMissing = "plural-form-missing"
    case textCutOff = "text-cut-off"
    case doubleBlank = "double-blank"
    case placeholderInText = "placeholder-in-text"
    case markupInText = "markup-in-text"
    case escapeInText = "escape-in-text"
    case garbledText = "garbled-text"
    case invisibleInText = "invisible-in-text"
    case soundNotPlayable = "sound-not-playable"
    case variantGetsText = "variant-gets-text"
    case linkWithoutScheme = "link-without-scheme"
    case hostNotReachable = "host-not-reachable"
    case outsideAPS = "outside-aps"
    case nothingVisible = "nothing-visible"
    case silentAndVisible = "silent-and-visible"
    case mutableWithoutAlert = "mutable-without-alert"
    case mediaNotMutable = "media-not-mutable"
    case mediaNotHTTPS = "media-not-https"
    case imageNotShown = "image-not-shown"
    case timeSensitive = "time-sensitive"
    case criticalAlert = "critical-alert"

    // What the headers of the exports show.
    case columnNotFound = "column-not-found"
    case columnTwice = "column-twice"
    case staleExport = "stale-export"
    case timezoneNotFound = "timezone-not-found"
    case oddExport = "odd-export"
    case commentInList = "comment-in-list"
    case roundedNumber = "rounded-number"

    // What the rows of the exports show.
    case badRow = "bad-row"
    case keyTwice = "key-twice"
    case rowForEachTag = "row-for-each-tag"
    case tagSeparator = "tag-separator"
    case tagSpelling = "tag-spelling"
    case tagNotFound = "tag-not-found"
    case aliasNotFound = "alias-not-found"
    case registrationIDNotFound = "registration-id-not-found"
    case exclusionNotFound = "exclusion-not-found"
    case noneNotExcluded = "none-not-excluded"
    case conditionNeverHolds = "condition-never-holds"
    case cellsNotCompared = "cells-not-compared"
    case valueNotFound = "value-not-found"
    case languageNotSpoken = "language-not-spoken"
    case timezonesUnknown = "timezones-unknown"
    case sentInQuietHours = "sent-in-quiet-hours"
    case languageFormsUnknown = "language-forms-unknown"
    case audienceEmpty = "audience-empty"
    case audienceNearlyEveryone = "audience-nearly-everyone"
    case audienceChanged = "audience-changed"
    case audienceDropped = "audience-dropped"
    case lastRunUnfinished = "last-run-unfinished"
    case sentRecently = "sent-recently"
    case paceTooSlow = "pace-too-slow"

    // What keys and certificates show.
    case certificateExpires = "certificate-expires"
    case secretReadable = "secret-readable"

    /// What must have been looked at before a warning can be given.
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

    /// Where it comes from. Only what was looked at can be said not to occur any more.
    public var sources: Set<Source> {
        switch self {
        case .curlyQuotes, .commentInText, .numberChanged, .conditionInList, .mixedConditions, .oddLanguage, .oddTimezone, .passwordInFile,
            .expiryTooLong, .expiresSoon, .schedulePast, .scheduleFar, .timeInQuietHours, .timeInGap, .expiresInUTC, .daysUnited,
            .repeatUneven,
            .unusedAllow,
            .partlyTranslated, .variantNotTranslated, .sameVariants, .pluralFormMissing, .linkWithoutScheme, .hostNotReachable, .outsideAPS,
            .nothingVisible,
            .silentAndVisible,
            .soundNotPlayable, .variantGetsText, .mutableWithoutAlert, .mediaNotMutable, .mediaNotHTTPS, .imageNotShown, .timeSensitive,
            .criticalAlert:
            [.files]
        // Of a text its constant part is known at once, and the whole of it when it is rendered.
        case .textCutOff, .doubleBlank, .placeholderInText, .markupInText, .escapeInText, .garbledText, .invisibleInText: [.files, .rows]
        // Which devices it is too late for only the rows show; that a part of a text is for nobody, the text itself.
        case .expiresBeforeSchedule, .conditionNeverHolds: [.files, .rows]
        // Keys of JSON may come in any object.
        case .columnTwice: [.files, .headers, .rows]
        // Which row of a device is its newest matters only where one has several.
        case .columnNotFound: [.headers, .rows]
        case .staleExport, .timezoneNotFound, .oddExport: [.headers]
        // Of a list of names the list tells, and where that may be meant, the names of the exports.
        case .commentInList: [.headers, .rows]
        case .roundedNumber: [.files, .headers]
        case .badRow, .keyTwice, .rowForEachTag, .tagSeparator, .tagSpelling, .tagNotFound, .aliasNotFound, .registrationIDNotFound,
            .exclusionNotFound, .noneNotExcluded, .cellsNotCompared, .valueNotFound, .dayIsMidnight,
            .languageNotSpoken, .languageFormsUnknown, .timezonesUnknown, .sentInQuietHours,
            .audienceEmpty, .audienceNearlyEveryone, .audienceChanged, .audienceDropped, .lastRunUnfinished, .sentRecently, .paceTooSlow:
            [.rows]
        case .certificateExpires, .secretReadable: [.credentials]
        }
    }
}

/// A warning that a campaign does not want to hear, and why.
public struct AllowedWarning: Hashable, Sendable {
    /// Which.
    public var name: WarningName
    /// Why it is meant so, in the words of whoever wrote the campaign.
    public var reason: String
    /// Where the name stands.
    public var position: SourcePosition

    /// A warning that is allowed.
    public init(name: WarningName, reason: String, position: SourcePosition) {
        self.name = name
        self.reason = reason
        self.position = position
    }
}
