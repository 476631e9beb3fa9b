import Base

/// A row's device and tags, examined to find out whether an export has a row for each tag.
struct TagSample {
    let fingerprint: TokenFingerprint
    /// Milliseconds since 1970.
    let lastActive: Int64
    /// A hash of the cell.
    let tags: UInt64
    /// The token's first four bytes and its last four; nil for one that is not longer than these,
    /// which is not shown at all.
    private let ends: (UInt32, UInt32)?

    init(fingerprint: TokenFingerprint, lastActive: Int64, tags: UInt64, token: UnsafeBufferPointer<UInt8>) {
        self.fingerprint = fingerprint
        self.lastActive = lastActive
        self.tags = tags
        let raw = UnsafeRawBufferPointer(token)
        ends =
            raw.count > 8
            ? (raw.loadUnaligned(as: UInt32.self), raw.loadUnaligned(fromByteOffset: raw.count - 4, as: UInt32.self))
            : nil
    }

    /// The device as it may be shown.
    var shown: String {
        func text(_ digits: UInt32) -> String { withUnsafeBytes(of: digits) { String(decoding: $0, as: UTF8.self) } }
        return ends.map { "\(text($0.0))…\(text($0.1))" } ?? "…"
    }

    /// Whether rows of a device are examined in every block, not only in the first: one device in
    /// 256, by its token, so that they are the same devices whenever the export is read.
    @inline(__always) static func isAlwaysTaken(_ token: UnsafeBufferPointer<UInt8>) -> Bool {
        token.count > 1 && token[token.count - 1] == UInt8(ascii: "0") && token[token.count - 2] == UInt8(ascii: "0")
    }
}

/// Finds out whether an export has a row for each tag: several rows of a device in one file, with
/// the same last activity but different tags.
struct TagRows {
    private struct Seen {
        var file: Int
        var lastActive: Int64
        var tags: UInt64
    }

    private var seen: [TokenFingerprint: Seen] = [:]
    /// The first device with such rows, to be shown, and the file that has them.
    private(set) var found: (token: String, file: Int)?

    /// The most devices that are remembered.
    private static let limit = 50_000

    mutating func add(_ samples: [TagSample], file: Int) {
        guard found == nil else { return }
        for sample in samples {
            guard let earlier = seen[sample.fingerprint] else {
                if seen.count < Self.limit {
                    seen[sample.fingerprint] = Seen(file: file, lastActive: sample.lastActive, tags: sample.tags)
                }
                continue
            }
            if earlier.file == file, earlier.lastActive == sample.lastActive, earlier.tags != sample.tags {
                found = (sample.shown, file)
                seen = [:]
                return
            }
            seen[sample.fingerprint] = Seen(file: file, lastActive: sample.lastActive, tags: sample.tags)
        }
    }
}
