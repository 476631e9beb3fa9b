import Audience
import Base

/// The lists of names that stand in files of their own: where their names are, and what is odd about them.
struct NameLists {
    /// Their files.
    private(set) var files: Set<String> = []
    /// What is worth saying of them.
    private(set) var warnings: [Diagnostic] = []
    /// Comments that may be names, which the exports tell.
    private(set) var hashedLines: [HashedLines] = []
    private var places: [String: [SourceText]] = [:]

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
        if let first = list.hashed.first {
            let lines = HashedLines(key: key, first: list.hashed, count: list.hashedLines)
            // What mostly is comments is a list of names.
            if list.hashedLines > list.names.count { warnings.append(lines.warning(first)) } else { hashedLines.append(lines) }
        }
        if let mistake = Self.table(list, key) { return [mistake] }
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

    /// An export in the place of a list: what its lines hold are no names.
    private static func table(_ list: NameFile.Listed, _ key: String) -> Diagnostic? {
        guard let first = list.places.first, let mark = first.value.first(where: { ",;\t".contains($0) }) else { return nil }
        let columns = first.value.split(separator: mark).map { $0.lowercased() }
        guard columns.count > 2,
            columns.contains(where: { ["device_token", "token", "registration_id", "alias", "tags", key].contains($0) })
        else { return nil }
        return Diagnostic(
            "this is a table of \(columns.count) columns, and a list of \(key == "registration_ids" ? "registration ids" : key) holds one name a line",
            at: first.position, remedy: "Keep that column alone, without its header.")
    }

    /// Numbers of more digits than a spreadsheet program keeps, all with zeros for the rest.
    private static func rounded(_ list: NameFile.Listed) -> Diagnostic? {
        let long = list.places.filter {
            $0.value.utf8.count > TextFormat.keptDigits && $0.value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        let zeros = long.compactMap { TextFormat.zerosOfRounding($0.value) }
        guard zeros.count == long.count, zeros.reduce(0, +) >= suspiciousZeros, let first = long.first else { return nil }
        return .warning(
            .roundedNumber,
            "'\(first.value)' seems to be rounded, as a spreadsheet program keeps \(TextFormat.keptDigits) digits of a number",
            at: first.position, remedy: "Export the list again, and do not open it in a spreadsheet program before it is used.")
    }
}
