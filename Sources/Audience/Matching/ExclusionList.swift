import Base
import PushServices

/// One of the lists of excluded devices, with what is needed to count lines that exclude no device.
struct ExclusionList: Sendable {
    /// As the query names it.
    let path: String
    /// What targets look like.
    private let targets: TargetForm
    /// Lines that name a device, including repeated ones.
    private(set) var entries = 0
    /// Rows that name no device: blank, or with a placeholder such as NULL; and the line of the
    /// first.
    private(set) var blanks = 0
    private(set) var firstBlankLine = 0
    /// Lines that begin with `#` and hold a token, and the first of them.
    private var hashedTokens = 0
    private var firstHashedLine = 0
    /// The names of its columns of devices, for a message; blank for a plain list.
    var columns = ""
    /// The first entry and its line, for a message.
    private(set) var first = ""
    private var firstLine = 1

    /// By entry: its fingerprint, and the other fingerprint of its row (0 for none).
    private var fingerprints: [UInt64] = []
    private var others: [UInt64] = []
    /// The other fingerprints of rows that have more than two, by entry.
    private var furtherOthers: [Int: [UInt64]] = [:]
    /// Entries that are not tokens, by their number.
    private var texts: [Int: Text] = [:]
    /// How many of the entries are not tokens.
    private var otherForms = 0

    private struct Text: Sendable {
        var text: String
        var line: Int
    }

    /// The number of entries with kept texts, of those in usual form and of those in odd form.
    private static let mostTexts = 1_000
    private var oddTexts = 0

    init(path: String, targets: TargetForm) { (self.path, self.targets) = (path, targets) }

    /// Lines that should name a device.
    var lines: Int { entries + blanks }

    /// Adds an entry.
    mutating func add(_ entry: UnsafeBufferPointer<UInt8>, fingerprint: UInt64, isToken: Bool, line: Int) {
        // The first line of a table that is a plain list is added last.
        if entries == 0 || line < firstLine { (first, firstLine) = (String(decoding: entry, as: UTF8.self), line) }
        if !isToken {
            otherForms += 1
            let isOdd = entry.contains(where: Self.isMark)
            if isOdd ? oddTexts < Self.mostTexts : texts.count - oddTexts < Self.mostTexts {
                texts[entries] = Text(text: String(decoding: entry, as: UTF8.self), line: line)
                if isOdd { oddTexts += 1 }
            }
        }
        fingerprints.append(fingerprint)
        entries += 1
    }

    /// Adds the other name of the device in the last entry's row.
    mutating func addBeside(_ fingerprint: UInt64) {
        if others.count == entries { return furtherOthers[entries - 1, default: []].append(fingerprint) }
        others.append(contentsOf: repeatElement(0, count: entries - 1 - others.count))
        others.append(fingerprint)
    }

    mutating func addBlank(line: Int) {
        if blanks == 0 { firstBlankLine = line }
        blanks += 1
    }

    /// Notes a line that begins with `#`: a token behind it may be meant as an entry.
    mutating func note(comment: UnsafeBufferPointer<UInt8>, line: Int) {
        guard targets.isCertain(trimmedText(String(decoding: comment.drop { $0 == UInt8(ascii: "#") }, as: UTF8.self)))
        else { return }
        if hashedTokens == 0 { firstHashedLine = line }
        hashedTokens += 1
    }

    /// Letters, digits, hyphens and underscores are in every name.
    private static func isMark(_ byte: UInt8) -> Bool {
        !((byte | 0x20) &- 0x61 < 26 || byte &- 0x30 <= 9 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_"))
    }

    // MARK: - What excludes no device

    /// - Parameter isDevice: whether the exports have a device of that fingerprint.
    /// - Returns: how many lines are not a device of the exports, including blank ones.
    func unmatched(_ isDevice: (UInt64) -> Bool) -> Int {
        blanks + fingerprints.indices.count { !isMatched($0, isDevice) }
    }

    private func isMatched(_ entry: Int, _ isDevice: (UInt64) -> Bool) -> Bool {
        isDevice(fingerprints[entry]) || entry < others.count && others[entry] != 0 && isDevice(others[entry])
            || furtherOthers[entry].map { $0.contains(where: isDevice) } ?? false
    }

    /// Warnings: a list that excludes no device, lines without a device, and lines that cannot be
    /// right. A token that the exports do not have (anymore) needs no warning.
    func warnings(_ isDevice: (UInt64) -> Bool) -> [Diagnostic] {
        let unmatched = unmatched(isDevice)
        return hashWarnings + (unmatched == lines ? [uselessWarning] : blankWarnings + formWarnings(isDevice))
    }

    private var hashWarnings: [Diagnostic] {
        guard hashedTokens > 0 else { return [] }
        let lines = TextFormat.counted(hashedTokens, one: "line begins", many: "lines begin")
        let noun = TextFormat.plural(hashedTokens, one: targets.aShortNoun, many: targets.shortNouns)
        let effect = TextFormat.plural(hashedTokens, one: "is a comment and excludes", many: "are comments and exclude")
        return [
            .warning(
                .exclusionNotFound, message: "\(lines) with '#' before \(noun), and so \(effect) no device",
                at: SourcePosition(file: path, line: firstHashedLine, column: 1),
                remedy:
                    "Remove the '#' to leave the \(TextFormat.plural(hashedTokens, one: "device", many: "devices")) out, or else the whole "
                    + "\(TextFormat.plural(hashedTokens, one: "line", many: "lines")).")
        ]
    }

    private var uselessWarning: Diagnostic {
        guard entries > 0 else {
            return .warning(
                .exclusionNotFound, message: "the list of excluded devices has no entry, so it excludes no device",
                file: path,
                remedy: "Check whether the file is complete.")
        }
        let said =
            lines == 1 ? "its only line is not a device" : "none of its \(TextFormat.count(lines)) lines is a device"
        return .warning(
            .exclusionNotFound, message: "the list of excluded devices excludes no device: \(said) of the exports",
            at: SourcePosition(file: path, line: firstLine, column: 1),
            remedy:
                "Its first is '\(Self.shown(first))'. A list holds \(targets.listedNounsInFull), written as in the exports, one a line."
        )
    }

    private var blankWarnings: [Diagnostic] {
        guard blanks > 0 else { return [] }
        let have =
            blanks == 1
            ? "1 of its \(TextFormat.count(lines)) lines names"
            : "\(TextFormat.count(blanks)) of its \(TextFormat.count(lines)) lines name"
        let place = columns.isEmpty ? "" : ": there is nothing in \(columns)"
        return [
            .warning(
                .exclusionNotFound,
                message:
                    "\(have) no device, and so \(TextFormat.plural(blanks, one: "excludes", many: "exclude")) none\(place)",
                at: SourcePosition(file: path, line: firstBlankLine, column: 1),
                remedy:
                    "Write each device's \(targets.listedNoun). To leave out people, write exclude: {aliases: {file: names.txt}}."
            )
        ]
    }

    /// Lines that are neither tokens nor registration ids of the exports: all such lines, or only
    /// those written differently from the ones that are found.
    private func formWarnings(_ isDevice: (UInt64) -> Bool) -> [Diagnostic] {
        guard otherForms > 0 else { return [] }
        let known = texts.keys.sorted()
        let found = known.filter { isMatched($0, isDevice) }
        let marks = Set(found.flatMap { (texts[$0]?.text ?? "").utf8.filter(Self.isMark) })
        var missing = known.filter { !isMatched($0, isDevice) }
        if !found.isEmpty {
            missing = missing.filter {
                texts[$0]?.text.utf8.contains { Self.isMark($0) && !marks.contains($0) } ?? false
            }
        }
        guard let first = missing.first.flatMap({ texts[$0] }) else { return [] }
        // For a long list of entries that look alike, not every text is kept.
        let count = found.isEmpty ? max(missing.count, otherForms) : missing.count
        let shown = missing.prefix(3).compactMap { texts[$0].map { "'\(Self.shown($0.text))'" } }.joined(
            separator: ", ")
        let are =
            count == 1
            ? "1 of its \(TextFormat.count(lines)) lines is"
            : "\(TextFormat.count(count)) of its \(TextFormat.count(lines)) lines are"
        return [
            .warning(
                .exclusionNotFound,
                message:
                    "\(are) \(targets.nothingListed) of the exports, and so \(TextFormat.plural(count, one: "excludes", many: "exclude")) none: \(shown)",
                at: SourcePosition(file: path, line: first.line, column: 1),
                remedy:
                    "Write \(targets.listedNouns) as in the exports, one a line, nothing else. To leave out people: exclude: {aliases: {file: names.txt}}."
            )
        ]
    }

    /// Shortened where it is long enough for a token.
    private static func shown(_ text: String) -> String {
        TextFormat.foreign(TextFormat.namingInvisible(TargetRedaction.line(text)), maximumBytes: 60)
    }
}

/// What excludes a device, as bits: tags, aliases, registration ids, and each of the lists of
/// devices. A device that several of them exclude counts for each of them.
struct Exclusions: OptionSet, Sendable {
    let rawValue: Int

    static let tags = Exclusions(rawValue: 1)
    static let aliases = Exclusions(rawValue: 2)
    static let registrationIDs = Exclusions(rawValue: 4)
    /// A cell that `where` leaves out, of a row without a date. Such a row is filtered, so this
    /// counts for no part of `exclude`.
    static let whereCell = Exclusions(rawValue: 256)

    /// Lists that are counted separately; further ones share the last one's bit. With the others
    /// they must be less than `RecipientCheck.groupLimit`.
    static let mostLists = 5

    /// - Parameter mask: of `ExcludedDevices.lists`.
    static func lists(_ mask: Int) -> Exclusions { Exclusions(rawValue: mask << 3) }
}
