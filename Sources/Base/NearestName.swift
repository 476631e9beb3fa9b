/// The valid name that a misspelt one most likely means: the one with the least edit distance (a
/// swap of neighbouring letters counts once), within a third of the length; nil if none is near.
/// Never one that means the opposite: `vip` for `!vip`, `subscribed` for `unsubscribed`. Nor a
/// device token: the nearest one is another device, and a suggestion would show it.
public func nearestName(to name: String, among valid: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    let limit = max(1, (wanted.count + 1) / 3)
    var best: (name: String, distance: Int)?
    for candidate in valid {
        if isOpposite(name.lowercased(), right: candidate.lowercased()) || SecretText.holdsToken(candidate) { continue }
        let distance = editDistance(wanted, Array(candidate.lowercased().unicodeScalars))
        if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
}

/// The same among the cells of a column, which may name people or devices: where it does, a near
/// name is another person's, and so is one with other digits and another address. Capitals make no
/// difference.
public func nearestCell(to value: String, in column: String, among cells: some Sequence<String>) -> String? {
    func digits(_ text: String) -> [Character] { text.filter(\.isNumber).map(\.self) }
    let namesPeople = [ExportColumns.Standard.alias, .registrationID, .token].contains { $0.rawValue == column }
    let (wanted, lowercased) = (digits(value), value.lowercased())
    return nearestName(
        to: value,
        among: cells.filter {
            $0.lowercased() == lowercased || !namesPeople && !$0.contains("@") && digits($0) == wanted
        })
}

/// Whether a text is most likely a slip for a name that is also in use, `unsubcribed` for
/// `unsubscribed`: one letter of a long word differs. In a short word it makes another one, as in
/// `plan-a` and `plan-b`, and so does a digit.
public func isTypo(_ text: String, for name: String) -> Bool {
    func words(_ text: String) -> [Substring] { text.lowercased().split { !$0.isLetter && !$0.isNumber } }
    let (found, wanted) = (words(text), words(name))
    guard found.count == wanted.count else { return false }
    let others = zip(found, wanted).filter { $0 != $1 }
    guard others.count == 1, let (word, meant) = others.first, word.allSatisfy(\.isLetter),
        meant.allSatisfy(\.isLetter),
        min(word.count, meant.count) >= (word.count == meant.count ? 8 : 7),
        !isOpposite(String(word), right: String(meant))
    else { return false }
    return editDistance(Array(word.unicodeScalars), Array(meant.unicodeScalars)) == 1
}

/// Whether one is the other with a sign or word of negation in front, or they begin or end with
/// words that mean the opposite of one another.
private func isOpposite(_ left: String, right: String) -> Bool {
    // `none` is meant by slips of it only, not by `one`.
    if [left, right].contains("none"), !left.hasPrefix("n") || !right.hasPrefix("n") { return true }
    for (one, other) in opposites where one != other {
        for (a, b) in [(one, other), (other, one)] {
            if left.hasPrefix(a), right.hasPrefix(b), left.dropFirst(a.count) == right.dropFirst(b.count) {
                return true
            }
            if left.hasSuffix(a), right.hasSuffix(b), left.dropLast(a.count) == right.dropLast(b.count) { return true }
        }
    }
    let (short, long) = left.utf8.count < right.utf8.count ? (left, right) : (right, left)
    guard long.hasSuffix(short), !short.isEmpty else { return false }
    return [
        "!", "! ", "!=", "!= ", "<>", "<> ", "≠", "≠ ", "-", "~", "^", "not ", "not_", "not-", "not", "not in ", "no_",
        "no-", "no ", "no",
        "non-", "non_", "non ", "non", "un", "in", "im", "il", "ir", "dis", "ex-", "fe", "anti", "anti-", "anti_",
        "opt-out-", "without ",
        "without_", "without-", "except ", "kein ", "keine ", "nicht ", "nicht_", "nicht-",
    ]
    .contains(String(long.dropLast(short.count)))
}

private let opposites = [
    ("in", "ex"), ("en", "dis"), ("in", "out"), ("on", "off"), ("up", "down"), ("yes", "no"), ("true", "false"),
    ("with", "without"),
]

/// Damerau-Levenshtein distance in its restricted form (optimal string alignment).
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for (row, a) in left.enumerated() {
        var current = [row + 1] + [Int](repeating: 0, count: right.count)
        for (column, b) in right.enumerated() {
            var cost = min(last[column] + (a == b ? 0 : 1), last[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current[column + 1] = cost
        }
        (beforeLast, last) = (last, current)
    }
    return last[right.count]
}
