/// The user whom the newest row of a device names beside the target that is used, by device. A service that addresses users reaches all
/// devices of each, so such a user would get a push twice on the device: once through its own target, and once through the user's ID, if
/// that stands alone in another row.
struct UsersOfDevices {
    private var users: [TokenFingerprint] = []

    /// No user. A fingerprint is this one by chance with a probability of 2⁻⁹⁶.
    static let nobody = TokenFingerprint(word: 0, rest: 0)

    subscript(device: Int) -> TokenFingerprint { users[device] }

    /// Memory that they take.
    var bytes: Int { users.count * MemoryLayout<TokenFingerprint>.stride }

    /// Notes whom a row of a device names. Called for every row, and for devices in the order of their numbers.
    mutating func note(_ user: TokenFingerprint, of device: Int, isNewest: Bool) {
        if device == users.count {
            users.append(user)
        } else if isNewest {
            users[device] = user
        }
    }
}

/// The users whom the rows of a block name, row by row.
struct NamedUsers {
    private var hits: ArraySlice<BlockResult.UserHit>

    init(_ blockResult: BlockResult) { hits = blockResult.userHits[...] }

    /// The user whom a row names. Called for rows in order.
    /// - Parameter row: its place among the block's devices.
    mutating func user(ofRow row: Int) -> TokenFingerprint {
        guard let hit = hits.first, hit.row == row else { return UsersOfDevices.nobody }
        hits.removeFirst()
        return hit.user
    }
}
