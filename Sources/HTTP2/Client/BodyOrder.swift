/// Lets bodies that were begun go out before those that were not, while the peer's window for the connection is the limit.
///
/// nghttp2 shares a connection by what each stream has sent: a body that the window cut in two has had its share, and waits behind every stream that
/// comes after it. While new ones come, that is for ever. So the body of a stream that has said nothing yet is held back
/// (`NGHTTP2_ERR_DEFERRED`) as long as another one could go on. A body that waits for the window of its own stream keeps no other from going.
struct BodyOrder {
    /// How far a stream's body is.
    enum Progress {
        /// Nothing of it was sent, or all of it.
        case whole
        /// A part was sent, and the connection's window is what the rest waits for.
        case cut
        /// A part was sent, and the rest waits for the window of its own stream.
        case blocked
    }

    /// Bodies that could go on, were there room on the connection.
    private var cutCount = 0
    private var blockedCount = 0
    /// Streams whose bodies were held back, in the order in which they came.
    private var held: [Int32] = []

    /// Whether a body that was not begun has to wait.
    var mustWait: Bool { cutCount > 0 }

    /// Whether any body was sent in part.
    var hasBegun: Bool { cutCount + blockedCount > 0 }

    mutating func hold(_ stream: Int32) { held.append(stream) }

    mutating func move(_ progress: inout Progress, to next: Progress) {
        count(progress, change: -1)
        count(next, change: 1)
        progress = next
    }

    private mutating func count(_ progress: Progress, change: Int) {
        switch progress {
        case .whole: break
        case .cut: cutCount += change
        case .blocked: blockedCount += change
        }
    }

    /// Those that need to wait no longer, the oldest first; some of them may have been closed meanwhile.
    mutating func takeReleased() -> [Int32]? {
        guard cutCount == 0, !held.isEmpty else { return nil }
        defer { held.removeAll(keepingCapacity: true) }
        return held
    }
}
