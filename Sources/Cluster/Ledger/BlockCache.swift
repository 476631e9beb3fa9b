import Synchronization

/// Blocks of recipients that a worker reads pushes from. Its memory is bounded by what is claimed
/// at a time.
final class BlockCache: Sendable {
    /// More than the largest claim has, with those that are rendered once more.
    private static let most = 256

    private let blocks = Mutex<[Int: [UInt8]]>([:])

    /// The blocks of some numbers that are there.
    func known(_ numbers: Range<Int>) -> [Int: [UInt8]] {
        blocks.withLock { blocks in
            var known: [Int: [UInt8]] = [:]
            for number in numbers { known[number] = blocks[number] }
            return known
        }
    }

    /// Adds blocks. The lowest numbers go first when there are too many: claims go upwards.
    func add(_ new: [Int: [UInt8]]) {
        blocks.withLock { blocks in
            blocks.merge(new) { $1 }
            guard blocks.count > Self.most else { return }
            for number in blocks.keys.filter({ new[$0] == nil }).sorted().prefix(blocks.count - Self.most) {
                blocks[number] = nil
            }
        }
    }
}
