import Base

/// A file's bytes, inflated on a separate thread when it is gzip.
struct FileBytes: ~Copyable {
    private var plain: ByteSource?
    private var plainBytesRead = 0
    private let inflated: InflatingThread?
    /// Bytes on disk.
    let size: Int

    init(path: String, isGzip: Bool, noting sources: SourceFiles) throws(Diagnostic) {
        let source = try ByteSource(path: path, isGzip: isGzip, noting: sources)
        let size = source.size
        if isGzip {
            self.init(inflated: try InflatingThread(consume source), plain: nil, size: size)
        } else {
            self.init(inflated: nil, plain: consume source, size: size)
        }
    }

    private init(inflated: InflatingThread?, plain: consuming ByteSource?, size: Int) {
        self.inflated = inflated
        self.size = size
        self.plain = consume plain
    }

    var bytesRead: Int { inflated?.bytesRead ?? plainBytesRead }

    /// Fills `target`; returns fewer bytes than asked for only at the end of the file.
    mutating func read(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        if let inflated { return try inflated.read(into: target) }
        let count = try plain?.read(into: target) ?? 0
        plainBytesRead += count
        return count
    }
}
