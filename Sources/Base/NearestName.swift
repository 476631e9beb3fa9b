/// The valid name that a misspelt one most likely means: the one with the least edit distance (a swap of neighbouring letters counts once),
/// within a third of the length; nil if none is near. Never one that means the opposite: `vip` for `!vip`, `subscribed` for `unsubscribed`.
public func nearestName(to name: String, among valid: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    let limit = max(1, (wanted.count + 1) / 3)
    var best: (name: String, distance: Int)?
    for candidate in valid {
        if isOpposite(name.lowercased(), right: candidate.lowercased()) { continue }
        let distance = editDistance(wanted, Array(candidate.lowercased().unicodeScalars))
        if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
}

/// Whether one is the other with a sign or word of negation in front.
private func isOpposite(_ left: String, right: String) -> Bool {
    let (short, long) = left.utf8.count < right.utf8.count ? (left, right) : (right, left)
    guard long.hasSuffix(short), !short.isEmpty else { return false }
    return [
        "!", "-", "~", "^", "not ", "not_", "not-", "not", "no_", "no-", "no ", "no", "non-", "non_", "non", "un", "in", "dis", "ex-",
        "opt-out-",
    ]
    .contains(String(long.dropLast(short.count)))
}

/// Damerau-Levenshtein distance in its restricted form (optimal string alignment).
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for (row, a) in left.enumerated() {
        var current = [row + 1] + [Int](repeating: 0, count: right.count)
        for (column, b) in right.enumerated() {
            var cost = min(last[column] + (a == b ? 0 : 1), last[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, a == right[column - 1], left[row - 1] == b { cost = min(cost, beforeLast[column - 1] + 1) }
            current[column + 1] = cost
        }
        (beforeLast, last) = (last, current)
    }
    return last[right.count]
}
