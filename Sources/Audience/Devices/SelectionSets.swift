/// Distinct sets of selectors, numbered.
struct SelectionSets {
    private var numbers: [[UInt32]: Int] = [:]
    private var sets: [[UInt32]] = []

    /// The selectors of a set, ascending.
    subscript(number: Int) -> [UInt32] { sets[number] }

    /// The number of a set.
    mutating func number(of set: [UInt32]) -> Int {
        if let number = numbers[set] { return number }
        numbers[set] = sets.count
        sets.append(set)
        return sets.count - 1
    }

    /// The number of the union of two sets.
    mutating func union(_ left: Int, _ right: Int) -> Int {
        let (present, more) = (sets[left], sets[right])
        if left == right || more.allSatisfy(present.contains) { return left }
        return number(of: Array(Set(present).union(more)).sorted())
    }
}
