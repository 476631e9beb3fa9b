import Synchronization

/// Blocks of recipients that a member reads pushes from. Its memory is bounded by what is claimed at a time.
final class BlockCache: Sendable {
    /// More than the largest claim has, with those that are rendered once more.
    private static let most = 256

    private let blocks = Mutex<[Int: [UInt8]]>([:])

    /// The blocks of some numbers that are not there.
    func missing(_ numbers: Range<Int>) -> [Int] { blocks.withLock { blocks in numbers.filter { blocks[$0] == nil } } }

    /// Adds blocks. The lowest numbers go first when there are too many: claims go upwards.
    func add(_ new: [Int: [UInt8]]) {
        blocks.withLock { blocks in
            blocks.merge(new) { $1 }
            guard blocks.count > Self.most else { return }
            for number in blocks.keys.filter({ new[$0] == nil }).sorted().prefix(blocks.count - Self.most) { blocks[number] = nil }
        }
    }

    subscript(number: Int) -> [UInt8]? { blocks.withLock { $0[number] } }
}
