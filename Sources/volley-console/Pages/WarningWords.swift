import Base
import Reports

/// A warning as all pages say it: a sentence without keys, paths and codes, where it is mended, and
/// below a fold where it is in the files, for the people that work with these. Commands are in
/// neither: there is none at a browser.
struct WarningWords {
    /// Where a warning is mended.
    enum Place: String {
        case who, what, when, how
        /// In the files that hold the devices.
        case exports
        /// In the settings of the app, its keys, or the machine.
        case settings
    }

    private let name: String
    private let message: String
    private let remedy: String
    private let terminal: String

    init(_ warning: Diagnostic) {
        self.init(
            name: warning.name?.rawValue ?? "", message: warning.message(for: .console),
            remedy: warning.remedy(for: .console) ?? "",
            terminal: Self.line(
                file: warning.file, line: warning.position?.line, message: warning.message(for: .console),
                remedy: warning.remedy(for: .console), name: warning.name?.rawValue))
    }

    /// As a plan keeps it.
    init(_ warning: JSONValue) {
        func text(_ key: String) -> String? { warning[key]?.stringValue }
        let name = text("name") ?? ""
        let known = Self.remedies(ofWarning: name)?.map(\.sentence).joined(separator: " ")
        self.init(
            name: name, message: text("message") ?? "", remedy: known ?? text("remedy") ?? "",
            terminal: Self.line(
                file: text("file"), line: warning["line"]?.integerValue.map { Int($0) }, message: text("message") ?? "",
                remedy: known ?? text("remedy"), name: name))
    }

    private init(name: String, message: String, remedy: String, terminal: String) {
        (self.name, self.message, self.remedy, self.terminal) = (name, message, remedy, terminal)
    }

    // MARK: - Lists

    /// How many sentences about one kind are shown, and how many lines of the terminal.
    private static let mostOfAKind = 3, mostLines = 10

    /// An item for each kind: its first sentence, then some more of it, and the terminal's words,
    /// folded.
    /// - Parameter form: the address of the campaign's form; nil for readers that may not edit.
    static func items(_ warnings: [WarningWords], form: String?) -> [HTML] {
        var kinds: [[WarningWords]] = []
        for warning in warnings {
            if !warning.name.isEmpty, let known = kinds.firstIndex(where: { $0[0].name == warning.name }) {
                kinds[known].append(warning)
            } else {
                kinds.append([warning])
            }
        }
        return kinds.map { item($0, form) }
    }

    private static func item(_ kind: [WarningWords], _ form: String?) -> HTML {
        var sentences: [HTML] = []
        for words in kind.map({ $0.sentence(form) }) where !sentences.contains(where: { $0.markup == words.markup }) {
            sentences.append(words)
        }
        func list(_ items: [HTML], of count: Int, _ summary: HTML) -> HTML {
            let rest: HTML = count > items.count ? "<li>… and \(TextFormat.count(count - items.count)) more</li>" : ""
            return "<details><summary>\(summary)</summary><ul>\(items)\(rest)</ul></details>"
        }
        let further = sentences.dropFirst().prefix(mostOfAKind - 1).map { words in
            "<li dir=\"auto\">\(words)</li>" as HTML
        }
        let lines = kind.prefix(mostLines).map { "<li dir=\"auto\">\(Prose.html($0.terminal))</li>" as HTML }
        let more: HTML =
            further.isEmpty
            ? ""
            : list(further, of: sentences.count - 1, "\(TextFormat.count(sentences.count - 1)) more of this kind")
        return """
            <li dir="auto">\(sentences[0])\(more)\(list(lines, of: kind.count, kind[0].fold))</li>
            """
    }

    private var fold: HTML {
        switch Self.kinds[name]?.place {
        case .exports: "For the people who prepare the exports"
        case .settings: "For the people who run Volley"
        case .who, .what, .when, .how, nil: "In the source"
        }
    }

    // MARK: - Sentences

    /// What it means, and where it is mended.
    /// - Parameters:
    ///   - form: the address of the campaign's form; nil for readers that may not edit.
    ///   - isAtField: whether it is at the field that mends it.
    func sentence(_ form: String?, isAtField: Bool = false) -> HTML {
        let kind = Self.kinds[name]
        let said = Self.plain(message)
        let isOfData = kind?.place == .exports
        let words =
            isOfData || !Self.isPlain(said)
            ? (kind?.words ?? "Something about this campaign is doubtful") : TextFormat.capitalized(said)
        let rows = isOfData ? message.firstMatch(of: #/\b([0-9][0-9,]*) rows?\b/#).map { " (\($0.0))" } ?? "" : ""
        let advice = Self.plain(remedy)
        let isAdvice = !isOfData && !advice.isEmpty && Self.isPlain(advice)
        let next: HTML = isAdvice ? " \(Prose.html(advice))" : ""
        let place = isAtField ? "" : remedyPlace(kind?.place, form, isAdvice)
        return "\(Prose.html(words + rows)).\(next)\(place)"
    }

    private func remedyPlace(_ place: Place?, _ form: String?, _ isAdvice: Bool) -> HTML {
        switch place {
        case .exports: return " Ask the people who prepare the exports to mend it."
        case .settings: return isAdvice ? "" : " Ask the people who run Volley to look at it."
        case .who, .what, .when, .how:
            let title = TextFormat.capitalized(place?.rawValue ?? "")
            guard let form else { return isAdvice ? "" : " It is under “\(title)” in the campaign’s form." }
            return " Change it under <a href=\"\(form)#\(place?.rawValue ?? "")\">“\(title)”</a>."
        case nil: return ""
        }
    }

    /// Labels instead of keys, typographic quotes around names, and names of columns without their
    /// underscores.
    private static func plain(_ text: String) -> String {
        FieldWords.plain(text).replacing(#/(^|[\s(])'([^']+)'/#) { "\($0.1)“\($0.2)”" }
            .replacing(#/\b([Ii]n|[Oo]n|[Oo]f) “([a-z]+(?:_[a-z]+)+)”/#) {
                "\($0.1) “\($0.2.replacing("_", with: " "))”"
            }
    }

    /// Whether a text can be read without the files: no key, path, code or command, outside of the
    /// names that it quotes.
    static func isPlain(_ text: String) -> Bool {
        if WarningName.own.contains(where: { $0.rawValue.contains("-") && text.contains($0.rawValue) }) { return false }
        let hasNotation =
            text.contains(#/[{}\[\]`\\|'"]|--|\.(csv|tsv|ya?ml|jsonl?|txt|p8|pem|gz)\b|\b(line|column) [0-9]/#)
            || text.contains(#/\b(YAML|JSON|CSV|UTF|keys?\b|allow the warning|in quotes)/#)
        let rest = text.replacing(#/“[^”]*”/#, with: "")
        return !hasNotation && !rest.contains(#/[\/_=]|\bvolley\b|[a-z]: [a-z]/#)
            && !keys.contains { text.contains("“\($0)”") }
    }

    /// Keys of the file that the form has no label for.
    private static let keys = [
        "allow", "languages", "default", "variants", "none", "any", "all", "environment", "columns", "services",
        "content", "payload", "custom",
    ]

    /// The terminal's words of a warning, with names of files instead of paths.
    private static func line(file: String?, line: Int?, message: String, remedy: String?, name: String?) -> String {
        let file = file.flatMap { $0.split(separator: "/").last.map(String.init) }.map { TextFormat.inLine($0) }
        let place = file.map { line == nil ? "\($0): " : "\($0), line \(line ?? 0): " } ?? ""
        let words = [message + ".", remedy ?? "", name.map { $0.isEmpty ? "" : "[\($0)]" } ?? ""]
        return place
            + words.filter { !$0.isEmpty }.joined(separator: " ").replacing(
                #/(^|[\s('"“`])\/(?:[^\s\/:'"]+\/)+([^\s\/:'"]+)/#
            ) { "\($0.1)\($0.2)" }
    }

    /// A plan keeps the remedies of its warnings as the terminal says them. nil for a warning whose
    /// remedy names no command.
    static func remedies(ofWarning name: String) -> [Remedy]? {
        switch WarningName(name, from: []) {
        case .audienceEmpty: [.explainDevice]
        case .audienceChanged: [.ask(.checkExport), .seeRuns]
        case .lastRunUnfinished, .sentRecently: [.seeRuns]
        case .schedulePast: [.giveAnotherTime]
        default: nil
        }
    }
}

extension WarningWords {
    /// What each kind means, without a final full stop, and where it is mended; nil where that is
    /// not one place.
    static let kinds: [String: (words: String, place: Place?)] = Dictionary(
        uniqueKeysWithValues: (ofContent + ofTimes + ofDevices + ofExports + ofSettings).map {
            ($0.0.rawValue, ($0.1, $0.2))
        })

    private static let ofContent: [(WarningName, String, Place?)] = [
        (.commentInText, "A text may be cut off: what follows a # is not sent", .what),
        (.numberChanged, "A text looks like a number, and is read otherwise than it is written", .what),
        (
            .mixedConditions,
            "A condition inside a text joins “and” with “or”, and may be read otherwise than it is meant", .what
        ),
        (.oddLanguage, "A language has a code that hardly any phone uses, so its text may reach no device", .what),
        (.notCarried, "One of the services cannot carry a part of this push, and sends it without that part", .what),
        (
            .partlyTranslated, "A language has only a part of the texts, and the rest is shown in the main language",
            .what
        ),
        (
            .variantNotTranslated,
            "Devices of a language get the same text in several variants: a variant has no text of its own for that language",
            .what
        ),
        (.sameVariants, "Two variants say the same, so comparing them shows nothing", .what),
        (.pluralFormMissing, "A text with a number lacks a form that its language needs", .what),
        (.textCutOff, "A text is longer than phones show", .what),
        (.doubleBlank, "A text has a blank too many", .what),
        (
            .textNotReady,
            "A text may not be ready: it holds something that people should not read, such as a sign of a draft, or a date that has passed",
            .what
        ),
        (.soundNotPlayable, "Phones cannot play the sound", .what),
        (.variantGetsText, "A variant is named as if it got no push, but it gets the text", .what),
        (.linkWithoutScheme, "The link lacks its beginning, such as https", .what),
        (.hostNotReachable, "The link or the image leads to an address that phones do not reach", .what),
        (.nothingVisible, "The push shows nothing", .what),
        (.silentAndVisible, "The push is meant to be silent, but has a sound or a badge", .what),
        (.mutableWithoutAlert, "The push asks the app to change a text that it does not have", .what),
        (.mediaNotMutable, "The app cannot show the image or film of this push", .what),
        (.mediaNotHTTPS, "Phones load images only from addresses that begin with https", .what),
        (.imageNotShown, "Phones do not show an image of this kind with a push", .what),
        (.unknownPayloadKey, "A push that was written by hand has a part that Volley does not know", .what),
        (.timeSensitive, "The push is shown although a phone is set not to be disturbed", .what),
        (.criticalAlert, "The push sounds on phones that are muted", .what),
        (.notTracked, "A push of this campaign does not say which campaign it belongs to", .what),
        (.curlyQuotes, "A value is in typographic quotation marks, which are taken as a part of it", .what),
        (
            .partlyChanged, "A text was changed since it was sent last, and its other languages or variants were not",
            .what
        ),
        (.conditionNeverHolds, "A condition applies to no device", .who),
    ]

    private static let ofTimes: [(WarningName, String, Place?)] = [
        (.oddTimezone, "The time zone has no summer time, which may not be meant", .when),
        (.schedulePast, "The time has passed", .when),
        (.scheduleFar, "The time is more than ten years away", .when),
        (.timeInQuietHours, "The time is within the quiet hours, so the push waits until they end", .when),
        (.timeInGap, "Clocks skip the time on that day", .when),
        (.daysUnited, "The repetition names days of the month and days of the week, and either is enough", .when),
        (.repeatUneven, "The repetition is less even than it looks", .when),
        (.expiryTooLong, "The push stays valid for longer than services keep it", .how),
        (.expiresSoon, "The push expires soon", .how),
        (.expiresBeforeSchedule, "The push expires before it goes out", .how),
        (.expiresInUTC, "The time of expiry is in universal time, and the campaign goes by another clock", .how),
        (.makerCategory, "Phones of some makers may not show the push, as its category is not named", .how),
        (.makerCap, "Phones of some makers show only a few marketing pushes of an app each day", .when),
        (.makerQuietHours, "Phones of some makers may show nothing at that time of night", .when),
        (.sentInQuietHours, "Devices get the push in their quiet hours", .when),
        (.paceTooSlow, "At its pace the push does not reach all devices in time", .how),
        (.slowTexts, "The texts differ from device to device, so a service takes long to send them", .what),
    ]

    private static let ofDevices: [(WarningName, String, Place?)] = [
        (.conditionInList, "A list holds something that reads like a condition, and is taken as a name", .who),
        (.optOutTargeted, "The campaign goes to devices that seem to have opted out", .who),
        (.dayIsMidnight, "A condition ends at the beginning of a day, so the rest of that day does not count", .who),
        (.tagNotFound, "No device has one of the tags of the campaign", .who),
        (.aliasNotFound, "No device has one of the aliases of the campaign", .who),
        (.registrationIDNotFound, "No device has one of the registration ids of the campaign", .who),
        (
            .exclusionNotFound,
            "Some of what the campaign is not to be sent to cannot be found among the devices, so it leaves them in",
            .who
        ),
        (
            .noneNotExcluded,
            "Devices that are named by alias or registration id get the push although they have a tag that leaves out others",
            .who
        ),
        (.valueNotFound, "No device has one of the values of a condition", .who),
        (.languageNotSpoken, "No device reads one of the languages", .what),
        (.audienceEmpty, "No device gets it", .who),
        (.serviceWithoutDevices, "One of the services of the app has no device in this campaign", .who),
        (.audienceNearlyEveryone, "Nearly every device gets it", .who),
        (.audienceChanged, "The number of devices is very different from the last time", .who),
        (.audienceDropped, "Far fewer devices get it than the last time, so it is not planned", .who),
        (.lastRunUnfinished, "The last run of this campaign is not over, and some devices may get the push twice", nil),
        (.mayGetItTwice, "A device that several parts of the audience reach gets the push from each", .who),
        (.sentRecently, "Devices of this campaign got a push a short time ago", nil),
        (.unusedAllow, "A warning that this campaign turns off does not occur any more", nil),
    ]

    private static let ofExports: [(WarningName, String, Place?)] = [
        (.columnNotFound, "The export lacks a column that is needed to know all about the devices", .exports),
        (.columnTwice, "The export has a column twice, and only one of them counts", .exports),
        (.staleExport, "The export is old: new devices are missing, and some may be gone", .exports),
        (.timezoneNotFound, "The export does not say the time zones of the devices", .exports),
        (.timezonesUnknown, "The export has time zones that do not exist", .exports),
        (.oddExport, "One of the exports looks different from the others", .exports),
        (.commentInList, "Lines of a list begin with #, so they are not read as names", .exports),
        (.roundedNumber, "Long numbers seem to have been rounded by a spreadsheet", .exports),
        (.foreignTargets, "Devices of one service seem to be in the column of another", .exports),
        (.badRow, "A row of the export cannot be read, so its device gets nothing", .exports),
        (.keyTwice, "The export names a value twice, and the last one counts", .exports),
        (.rowForEachTag, "The export has a row for each tag of a device, and only the last row counts", .exports),
        (
            .tagSeparator, "Tags in the export are not separated as they should be, so some devices are not found",
            .exports
        ),
        (.tagSpelling, "The export writes names otherwise than the campaign, so some devices are not found", .exports),
        (
            .cellsNotCompared,
            "The export holds values that a condition of the campaign cannot compare, so it may leave out devices",
            .exports
        ),
        (
            .languageFormsUnknown,
            "The export has languages that Volley does not know, and their dates and numbers are English", .exports
        ),
    ]

    private static let ofSettings: [(WarningName, String, Place?)] = [
        (.passwordInFile, "A password is in the settings", .settings),
        (.simulatorAndProduction, "One service of the app reaches people, and another only a simulator", .settings),
        (.storeAway, "What other machines have sent is not known at the moment", .settings),
        (.certificateExpires, "The certificate of the app ends soon", .settings),
        (.credentialsUnusable, "The keys of a service cannot be used, so it sends nothing", .settings),
        (.secretReadable, "Others on the machine can read a key of the app", .settings),
    ]
}
