import Base
import PushServices

/// Names of the query that no row carries, with what is probably meant by them.
extension ScanFindings {
    /// Parts of `exclude` with names that no row carries at all.
    var uselessNames: [Diagnostic] {
        let query = plan.query
        let lists = [
            (
                "aliases", "the column of aliases", query.excludedAliases,
                plan.selectors.aliases.numbers(of: query.excludedAliases),
                seen.aliases
            ),
            (
                "registration_ids", "the column of registration ids", query.excludedRegistrationIDs,
                plan.selectors.registrationIDs.numbers(of: query.excludedRegistrationIDs), seen.registrationIDs
            ),
        ]
        return lists.compactMap { key, column, names, numbers, seen in
            // For a single name, `alias-not-found` says enough.
            guard numbers.count > 1, !numbers.contains(where: { seen[$0] }) else { return nil }
            let remedy =
                names.contains(where: query.targets.isCertain)
                ? "Some look like \(query.targets.nouns): write `exclude: {devices: FILE}` for a list of \(query.targets.shortNouns)."
                : "Are they written as in \(column)?"
            let places = key == "aliases" ? query.places.aliases : query.places.registrationIDs
            var warning = Diagnostic.warning(
                .exclusionNotFound,
                message:
                    "exclude: {\(key): …} excludes no device: no row carries any of its \(TextFormat.count(numbers.count)) names",
                remedy: remedy)
            warning.position = names.lazy.compactMap { places[$0] }.first
            return warning
        }
    }

    /// Comments of lists that are most likely names, as the exports have such names with their `#`.
    var hashedNames: [Diagnostic] {
        plan.query.hashedLines.compactMap { lines in
            let names = lines.key == "tags" ? sampledTags : lines.key == "aliases" ? sampledAliases : []
            guard names.contains(where: { $0.hasPrefix("#") }) else { return nil }
            return (lines.first.first { names.contains($0.value) } ?? lines.first.first).map(lines.warning)
        }
    }

    func unseenNames() -> [Diagnostic] {
        let places = plan.query.places
        return unseen(plan.selectors.tags.names, seen.tags, .tagNotFound, kind: "tag", places.tags, among: sampledTags)
            + unseen(
                plan.selectors.aliases.names, seen.aliases, .aliasNotFound, kind: "alias", places.aliases,
                among: sampledAliases)
            + unseen(
                plan.selectors.registrationIDs.names, seen.registrationIDs, .registrationIDNotFound,
                kind: "registration id",
                places.registrationIDs)
    }

    /// Names of the query that no row carries; of a long list the first ten and a count.
    private func unseen(
        _ names: [String], _ wasSeen: [Bool], _ warning: WarningName, kind: String, _ places: [String: SourcePosition],
        among valid: Set<String> = []
    ) -> [Diagnostic] {
        let missing = zip(names, wasSeen).filter { !$0.1 }.map(\.0)
        var warnings = missing.prefix(10).map { name in
            let message = "no row in the exports has the \(kind) '\(Self.shown(name))'"
            var found =
                places[name].map { Diagnostic.warning(warning, message: message, at: $0) }
                ?? .warning(warning, message: message)
            found.remedy = remedy(forUnseen: name, kind: kind, among: valid)
            if isTargetElsewhere(name, kind: kind), !isExcluded(name, kind: kind) {
                found.remedies = [.ask(.pushToOne)]
            }
            return found
        }
        if missing.count > 10 {
            let rest = missing.count - 10
            warnings.append(
                .warning(
                    warning,
                    message: "nor any of \(rest) more of the campaign's \(kind == "alias" ? "aliases" : kind + "s")"))
        }
        return warnings
    }

    /// A name as it may be shown: a number is not a token.
    static func shown(_ name: String) -> String {
        name.allSatisfy(\.isNumber) && name.utf8.count < 32 ? name : TargetRedaction.possible(name) ?? shortened(name)
    }

    /// For example a line of a table: no token in it is shown in full.
    private static func shortened(_ name: String) -> String {
        let shown = TextFormat.namingInvisible(TargetRedaction.withoutTargets(name))
        let cut = TextFormat.foreign(shown, maximumBytes: 80)
        return cut.utf8.count < shown.utf8.count ? cut + "…" : shown
    }

    /// The key of the audience for a kind of names.
    private static func key(of kind: String) -> String {
        kind == "tag" ? "tags" : kind == "alias" ? "aliases" : "registration_ids"
    }

    /// Whether a name is already used to leave devices out.
    private func excludes(_ name: String, kind: String) -> Bool {
        let query = plan.query
        return switch kind {
        case "tag": query.excludedTags.contains(name) || query.noneTags.contains(name)
        case "alias": query.excludedAliases.contains(name)
        default: query.excludedRegistrationIDs.contains(name)
        }
    }

    /// `vip` of `-vip`, `no vip`, `ohne vip`: in a name, nothing means `not`.
    private static func negated(_ name: String) -> String? {
        let words = ["no", "non", "not", "without", "except", "ohne", "nicht", "kein", "sans", "sin"]
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        let rest =
            parts.count == 2 && words.contains(parts[0].lowercased())
            ? parts[1] : ["-", "~"].contains(name.prefix(1)) ? String(name.dropFirst()) : ""
        // -1 is a number.
        return trimmedText(rest).first?.isLetter == true ? trimmedText(rest) : nil
    }

    /// `user0` of `- user0`, `• user0` and `1. user0`, as other programs write lists, and of
    /// `user0 # Anna`; nil for other lines.
    private static func unmarked(_ line: String) -> String? {
        var name = line[...]
        if let end = name.firstIndex(of: " "), end < name.endIndex {
            let mark = name[..<end]
            let isNumber =
                mark.count > 1 && ".)".contains(mark.last ?? " ")
                && mark.dropLast().allSatisfy { $0.isASCII && $0.isNumber }
            if isNumber || mark.count == 1 && "-*•–—·".contains(mark) { name = name[name.index(after: end)...] }
        }
        if let comment = name.firstRange(of: " #") { name = name[..<comment.lowerBound] }
        let bare = trimmedText(String(name)).split(whereSeparator: { "\"'".contains($0) }).joined()
        return bare.isEmpty || name.utf8.count == line.utf8.count ? nil : bare
    }

    /// A line of a list that is more, or less, than a name.
    private func listRemedy(forUnseen name: String, kind: String) -> String? {
        let places = plan.query.places
        guard
            let place = kind == "alias"
                ? places.aliases[name] : kind == "tag" ? places.tags[name] : places.registrationIDs[name],
            places.isListed(place)
        else { return nil }
        if let bare = Self.unmarked(name) {
            return "A list holds one name a line, with nothing before or after it: \(bare)."
        }
        if name.contains(where: { ",;\t".contains($0) }) {
            return "A list holds one name a line: keep that column alone."
        }
        let column = plan.query.columns.candidates(
            for: kind == "alias" ? .alias : kind == "tag" ? .tags : .registrationID)[0]
        let header = [column, kind, Self.key(of: kind)].contains { $0.lowercased() == name.lowercased() }
        return place.line == 1 && header ? "It seems to be a header: remove that line." : nil
    }

    /// `news and vip`, `news|vip`, `all`.
    private func tagsInWords(_ name: String, valid: Set<String>) -> String? {
        let excludes = excludes(name, kind: "tag")
        if !excludes, ["*", "all", "everyone", "everybody", "alle"].contains(name.lowercased()) {
            return "To send to all devices, write everyone: true instead of tags."
        }
        let marks: [(mark: String, areAll: Bool)] = [
            (" and ", true), (" und ", true), ("&", true), ("+", true), (" or ", false), (" oder ", false),
            ("|", false), ("/", false),
            (" ", false),
        ]
        let known = valid.union(plan.selectors.tags.names)
        for (mark, areAll) in marks {
            let parts = name.lowercased().split(separator: mark).map { trimmedText(String($0)) }.filter { !$0.isEmpty }
            guard parts.count > 1, parts.allSatisfy(known.contains) else { continue }
            let list = "[\(parts.map { TextFormat.yaml($0) }.joined(separator: ", "))]"
            return areAll && !excludes
                ? "For devices with all of them, write tags: {all: \(list)}."
                : "For devices with any of them, write tags: \(list)."
        }
        return nil
    }

    /// `1` for `001` and `1.0`, and the reverse.
    private static func sameNumber(as name: String, among valid: Set<String>) -> String? {
        func number(_ text: String) -> Substring? {
            let whole = text.hasSuffix(".0") ? text.dropLast(2) : text[...]
            guard !whole.isEmpty, whole.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
            return whole.drop { $0 == "0" }
        }
        guard let wanted = number(name), !wanted.isEmpty else { return nil }
        return valid.filter { number($0) == wanted }.min()
    }

    /// Whether what is looked for as an alias or a registration id is a target. Telephone numbers,
    /// and ids that a spreadsheet has rounded, are hex digits too.
    private func isTargetElsewhere(_ name: String, kind: String) -> Bool {
        plan.query.targets.recognizes(name) && !name.allSatisfy(\.isNumber)
            && (plan.query.targets.isCertain(name) || kind == "alias")
    }

    /// Whether some row has the name, which is one of the campaign's or a part of one.
    private func carries(_ name: String, kind: String) -> Bool {
        func isSeen(_ table: NameTable, _ flags: [Bool], _ parts: Set<String>) -> Bool {
            parts.contains(name) || table.numbers(of: [name]).contains { flags[$0] }
        }
        return switch kind {
        case "tag": isSeen(plan.selectors.tags, seen.tags, seen.tagParts)
        case "alias": isSeen(plan.selectors.aliases, seen.aliases, seen.aliasParts)
        default: isSeen(plan.selectors.registrationIDs, seen.registrationIDs, seen.registrationIDParts)
        }
    }

    /// Whether a text that no row has most likely means several names that rows have.
    func namesSeveral(_ name: String, kind: String) -> Bool {
        guard let several = JoinedNames(name) else { return false }
        let known = several.parts.count { carries($0, kind: kind) }
        return known == several.parts.count || several.isCertain && known > 0
    }

    /// Whether a name comes from a file of names.
    private func isListed(_ name: String, kind: String) -> Bool {
        let places = plan.query.places
        return places.isListed(
            kind == "alias" ? places.aliases[name] : kind == "tag" ? places.tags[name] : places.registrationIDs[name])
    }

    private func remedy(forSeveral several: JoinedNames, in name: String, kind: String) -> String {
        let (key, nouns) = (Self.key(of: kind), kind == "alias" ? "aliases" : kind + "s")
        if isListed(name, kind: kind) { return "If you mean several \(nouns), write each on its own line in the file." }
        let list = several.parts.map { TextFormat.yaml(Self.shown($0)) }.joined(separator: ", ")
        return "If you mean several \(nouns), quote each one separately, or none: \(key): [\(list)]."
    }

    private func isExcluded(_ name: String, kind: String) -> Bool {
        (kind == "alias" ? plan.query.excludedAliases : plan.query.excludedRegistrationIDs).contains(name)
    }

    func remedy(forUnseen name: String, kind: String, among valid: Set<String>) -> String? {
        if isTargetElsewhere(name, kind: kind) {
            if isExcluded(name, kind: kind) {
                let nouns = plan.query.targets.shortNouns
                return
                    "It looks like \(plan.query.targets.aNoun): write `exclude: {devices: FILE}` for a list of \(nouns)."
            }
            let columns = plan.query.columns.candidates(for: kind == "alias" ? .alias : .registrationID).map {
                "'\($0)'"
            }
            return
                "It looks like \(plan.query.targets.aNoun), but is looked for in the column \(columns.joined(separator: " or ")). `volley push` sends to one \(plan.query.targets.shortNoun)."
        }
        if kind == "tag", name.contains(","), JoinedNames(name) == nil {
            return "Remove the comma: \(trimmedText(name.filter { $0 != "," }))."
        }
        let several = JoinedNames(name)
        if let several, several.isCertain, kind == "tag" || !isListed(name, kind: kind) {
            if kind == "tag", let remedy = tagsInWords(name, valid: valid) { return remedy }
            return remedy(forSeveral: several, in: name, kind: kind)
        }
        if Spelling.isEnclosed(name) || Spelling.hasInvisible(name),
            let remedy = spellingRemedy(forUnseen: name, kind: kind)
        {
            return remedy
        }
        if let remedy = listRemedy(forUnseen: name, kind: kind) { return remedy }
        if [".txt", ".csv", ".tsv"].contains(where: name.lowercased().hasSuffix), !name.contains(" ") {
            return "For the names in a file, write \(Self.key(of: kind)): {file: \(TextFormat.yaml(name))}."
        }
        if kind == "tag", let remedy = tagsInWords(name, valid: valid) { return remedy }
        if let negated = Self.negated(name), !excludes(name, kind: kind) {
            return
                "It is read as a name. For devices without it, write under 'audience': exclude: {\(Self.key(of: kind)): [\(TextFormat.yaml(negated))]}."
        }
        if let remedy = spellingRemedy(forUnseen: name, kind: kind) { return remedy }
        if let several, several.parts.contains(where: { carries($0, kind: kind) }) {
            return remedy(forSeveral: several, in: name, kind: kind)
        }
        if let other = Self.sameNumber(as: name, among: valid.filter { !isNamed($0, kind: kind) }) {
            return
                "Did you mean '\(other)'? Spreadsheet programs drop zeros at the start of a number, and other programs add '.0'."
        }
        // The nearest number belongs to another person.
        if name.contains(where: \.isNumber), name.allSatisfy({ $0.isNumber || "+-. ()/".contains($0) }) {
            return
                "Check that it is written as in the column of \(kind == "alias" ? "aliases" : kind + "s"). A spreadsheet may have rounded the number."
        }
        let near = nearestName(to: name, among: valid.sorted())
        if kind == "tag" { return near.flatMap { isNamed($0, kind: kind) ? nil : "Did you mean '\($0)'?" } }
        if let same = [Spelling.folded(name), name.uppercased()].first(where: { $0 != name && carries($0, kind: kind) })
        {
            return "Rows have '\(Self.shown(same))', which you name too: remove this one."
        }
        // The nearest name belongs to another person, or another device.
        return near.map { _ in
            "Check that it is written as in the column of \(kind == "alias" ? "aliases" : kind + "s")."
        }
    }

    /// Whether the query has a name.
    private func isNamed(_ name: String, kind: String) -> Bool {
        let selectors = plan.selectors
        return !(kind == "tag" ? selectors.tags : kind == "alias" ? selectors.aliases : selectors.registrationIDs)
            .numbers(of: [name])
            .isEmpty
    }
}
