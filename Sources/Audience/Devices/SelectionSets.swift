/// Distinct sets of selectors, numbered. The empty one is 0.
struct SelectionSets {
    private var numbers: [[UInt32]: Int] = [[]: 0]
    private var sets: [[UInt32]] = [[]]

    /// The number of the empty set.
    static let none = 0

    /// The selectors of a set, ascending.
    subscript(number: Int) -> [UInt32] { sets[number] }

    /// The number of a set.
    mutating func number(of set: [UInt32]) -> Int {
        if let number = numbers[set] { return number }
        numbers[set] = sets.count
        sets.append(set)
        return sets.count - 1
    }
}
