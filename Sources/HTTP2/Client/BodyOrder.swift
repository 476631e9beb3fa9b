/// Sends bodies that were begun before those that were not, while the peer's window for the
/// connection is the limit.
///
/// nghttp2 shares a connection by how much each stream has sent: a body that the window cut in two
/// has had its share, and waits behind every stream that comes after it. While new streams keep
/// coming, it would wait forever. So the body of a stream that has sent nothing yet is held back
/// (`NGHTTP2_ERR_DEFERRED`) as long as another one could continue. A body that waits for the window
/// of its own stream holds back no other.
struct BodyOrder {
    /// How much of a stream's body was sent.
    enum Progress {
        /// Nothing, or all of it.
        case whole
        /// A part was sent; the rest waits for the connection's window.
        case cut
        /// A part was sent; the rest waits for the window of its own stream.
        case blocked
    }

    /// Bodies that could continue if the connection's window allowed it.
    private var cutCount = 0
    private var blockedCount = 0
    /// Streams with bodies that were held back, in the order in which they came.
    private var held: [Int32] = []

    /// Whether a body that was not begun must wait.
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

    /// Streams that no longer need to wait, oldest first; some may have been closed in the
    /// meantime.
    mutating func takeReleased() -> [Int32]? {
        guard cutCount == 0, !held.isEmpty else { return nil }
        defer { held.removeAll(keepingCapacity: true) }
        return held
    }
}
