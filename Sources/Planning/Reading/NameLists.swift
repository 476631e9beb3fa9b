import Audience
import Base
import Campaigns
import PushServices

/// The lists of names in separate files: the places of their names, and odd ones.
struct NameLists {
    /// Their files.
    private(set) var files: Set<String> = []
    /// Warnings about the lists.
    private(set) var warnings: [Diagnostic] = []
    /// Comments that may be names; the exports show which are.
    private(set) var hashedLines: [HashedLines] = []
    private var places: [String: [SourceText]] = [:]
    /// Whether a service chooses devices by them: then registration ids are targets.
    private let areOfCalls: Bool

    /// This many rounded-off zeros or more are not a coincidence.
    private static let suspiciousZeros = 3

    init(areOfCalls: Bool = false) { self.areOfCalls = areOfCalls }

    /// The parts of the names under a key that may be shown.
    func shown(_ key: String) -> @Sendable (String) -> String {
        guard areOfCalls, let selector = AudienceCall.Selector(rawValue: key) else {
            return { TargetRedaction.cell($0, maximumBytes: 60) }
        }
        return { selector.shown($0) }
    }

    /// The places of names under a key of the audience.
    func places(of key: String) -> [SourceText] { places[key] ?? [] }

    /// Adds a list.
    /// - Parameters:
    ///   - key: the key that names it: `tags`, `aliases` or `registration_ids`.
    ///   - isChosen: whether its names choose devices, and do not leave them out.
    /// - Returns: its mistakes.
    mutating func add(_ list: NameFile.Listed, key: String, isChosen: Bool) -> [Diagnostic] {
        if key == "tags", isChosen, let tag = list.places.first(where: { OptOutWords.mean($0.value) }) {
            warnings.append(.optOut(tag, isTag: true))
        }
        if key == "tags", !isChosen, let tag = list.places.first(where: { OptOutWords.tagMeansOptIn($0.value) }) {
            warnings.append(.optInLeftOut(tag))
        }
        places[key, default: []] += list.places
        files.formUnion(Set(list.places.prefix(1).map(\.position.file)))
        if let first = list.hashed.first {
            let lines = HashedLines(key: key, first: list.hashed, count: list.hashedLines, shown: shown(key))
            // A file that is mostly comments is probably a list of names that begin with '#'.
            if list.hashedLines > list.names.count {
                warnings.append(lines.warning(first))
            } else {
                hashedLines.append(lines)
            }
        }
        if let mistake = Self.table(list, key: key) { return [mistake] }
        guard key != "tags" else { return [] }
        if let warning = Self.rounded(list, shown(key)) { warnings.append(warning) }
        let rounded = list.places.filter { TextFormat.isRounded($0.value) }
        return rounded.prefix(1).map { first in
            Diagnostic(
                "'\(shown(key)(first.value))' is a number that a spreadsheet program has rounded"
                    + (rounded.count > 1
                        ? ", as \(rounded.count == 2 ? "is" : "are") \(rounded.count - 1) more in the list" : "")
                    + ": it could be any of many numbers",
                at: first.position,
                remedy: "Export the list again, and do not open it in a spreadsheet program before you use it.")
        }
    }

    /// The mistake of an export in the place of a list: its lines do not hold names.
    private static func table(_ list: NameFile.Listed, key: String) -> Diagnostic? {
        guard let first = list.places.first, let mark = first.value.first(where: { ",;\t".contains($0) }) else {
            return nil
        }
        let columns = first.value.split(separator: mark).map { $0.lowercased() }
        guard columns.count > 2,
            columns.contains(where: { ["device_token", "token", "registration_id", "alias", "tags", key].contains($0) })
        else { return nil }
        return Diagnostic(
            "this is a table of \(columns.count) columns, but a list of \(key == "registration_ids" ? "registration ids" : key) holds one name per line",
            at: first.position, remedy: "Keep only the column with the names, without its header.")
    }

    /// A warning about numbers with more digits than a spreadsheet program keeps, all with zeros
    /// for the rest.
    private static func rounded(_ list: NameFile.Listed, _ shown: (String) -> String) -> Diagnostic? {
        let long = list.places.filter {
            $0.value.utf8.count > TextFormat.keptDigits && $0.value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        let zeros = long.compactMap { TextFormat.zerosOfRounding($0.value) }
        guard zeros.count == long.count, zeros.reduce(0, +) >= suspiciousZeros, let first = long.first else {
            return nil
        }
        return .warning(
            .roundedNumber,
            message:
                "'\(shown(first.value))' seems to be rounded: a spreadsheet program keeps only \(TextFormat.keptDigits) digits of a number",
            at: first.position,
            remedy: "Export the list again, and do not open it in a spreadsheet program before you use it.")
    }
}
