import Audience
import Base

/// The lists of names that stand in files of their own: where their names are, and what is odd about them.
struct NamedLists {
    /// Their files.
    private(set) var files: Set<String> = []
    /// What is worth saying of them.
    private(set) var warnings: [Diagnostic] = []
    private var places: [String: [SourceText]] = [:]

    /// Digits that a spreadsheet program keeps of a number.
    private static let keptDigits = 15
    /// Zeros in the place of the others from which on they are no chance.
    private static let suspiciousZeros = 3

    /// The places of names below a key of the audience.
    func places(of key: String) -> [SourceText] { places[key] ?? [] }

    /// Takes a list.
    /// - Parameter key: below which it stands: `tags`, `aliases` or `registration_ids`.
    /// - Returns: its mistakes.
    mutating func take(_ list: NameFile.Listed, _ key: String) -> [Diagnostic] {
        places[key, default: []] += list.places
        files.formUnion(Set(list.places.prefix(1).map(\.position.file)))
        if let first = list.hashed {
            let lines = list.hashedLines == 1 ? "1 line begins" : "\(TextFormat.count(list.hashedLines)) lines begin"
            let comments = list.hashedLines == 1 ? "is a comment" : "are comments"
            warnings.append(
                .warning(
                    .commentInList, "\(lines) with '#' and \(comments), such as '\(TextFormat.foreign(first.value, maximumBytes: 60))'",
                    at: first.position,
                    remedy:
                        "If it is a name, write it in the campaign: \(key): [\"\(TextFormat.foreign(first.value, maximumBytes: 60))\"]. "
                        + "A comment has a blank behind its '#'."))
        }
        guard key != "tags" else { return [] }
        if let warning = Self.rounded(list) { warnings.append(warning) }
        let rounded = list.places.filter { TextFormat.isRounded($0.value) }
        return rounded.prefix(1).map { first in
            Diagnostic(
                "'\(first.value)' is a number that a spreadsheet program has rounded"
                    + (rounded.count > 1 ? ", as \(rounded.count == 2 ? "is" : "are") \(rounded.count - 1) more of the list" : "")
                    + ": it may stand for many",
                at: first.position, remedy: "Export the list again, and do not open it in a spreadsheet program before it is used.")
        }
    }

    /// Numbers of more digits than a spreadsheet program keeps, all with zeros for the rest.
    private static func rounded(_ list: NameFile.Listed) -> Diagnostic? {
        let long = list.places.filter { $0.value.utf8.count > keptDigits && $0.value.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        let zeros = long.reduce(0) { $0 + $1.value.utf8.count - keptDigits }
        guard zeros >= suspiciousZeros, long.allSatisfy({ $0.value.dropFirst(keptDigits).allSatisfy { $0 == "0" } }), let first = long.first
        else { return nil }
        return .warning(
            .roundedNumber, "'\(first.value)' seems to be rounded, as a spreadsheet program keeps \(keptDigits) digits of a number",
            at: first.position, remedy: "Export the list again, and do not open it in a spreadsheet program before it is used.")
    }
}
