import Glibc

/// A file in memory that disappears with this value.
struct ScratchFile: ~Copyable {
    let path: String

    /// - Parameter suffix: the end of the name, for example `.csv`.
    init(_ bytes: [UInt8], suffix: String) {
        path = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/volley-fuzz-\(getpid())\(suffix)"
        guard let stream = fopen(path, "wb") else { fatalError("\(path) cannot be written") }
        fwrite(bytes, 1, bytes.count, stream)
        fclose(stream)
    }

    deinit { unlink(path) }
}
