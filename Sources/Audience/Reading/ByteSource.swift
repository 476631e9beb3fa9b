import Base
import Glibc

/// A file read from front to back, inflated on the way if it is gzip.
struct ByteSource: ~Copyable {
    /// The path as the caller named it.
    let file: String
    /// Bytes on disk.
    let size: Int
    /// Bytes taken from the disk so far.
    private(set) var bytesRead = 0
    private let descriptor: Int32
    private var inflater: Inflater?

    init(path: String, isGzip: Bool) throws(Diagnostic) {
        (descriptor, size) = try Self.open(path)
        file = path
        inflater = isGzip ? Inflater() : nil
    }

    deinit { close(descriptor) }

    private static func open(_ path: String) throws(Diagnostic) -> (descriptor: Int32, size: Int) {
        // O_NONBLOCK: opening a named pipe must not hang before it can be refused.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno, path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(code, path)
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            close(descriptor)
            switch status.st_mode & S_IFMT {
            case S_IFREG: throw Diagnostic("the file is empty", file: path, remedy: "Was the export finished?")
            case S_IFDIR:
                throw Diagnostic("this is a folder, not a file", file: path, remedy: "A glob names the files in it: \(path)/*.csv.")
            default: throw Diagnostic("this is no ordinary file", file: path, remedy: "Exports are read twice: save it as a file first.")
            }
        }
        return (descriptor, Int(status.st_size))
    }

    private static func failure(_ code: Int32, _ path: String) -> Diagnostic {
        switch code {
        case ENOENT, ENOTDIR:
            Diagnostic("there is no such file", file: path, remedy: "Paths are relative to the file that names them.")
        case EACCES, EPERM:
            Diagnostic("the file may not be read", file: path, remedy: "Give the account that runs Volley the right to read it.")
        default: Diagnostic("the file cannot be read: \(String(cString: strerror(code)))", file: path)
        }
    }

    /// Fills `target`; returns fewer bytes than asked for only at the end of the file.
    mutating func read(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        var filled = 0
        while filled < target.count {
            let rest = UnsafeMutableBufferPointer(rebasing: target[filled...])
            let count = try inflater == nil ? readFile(into: rest) : inflate(into: rest)
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    private mutating func readFile(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        while true {
            let count = Glibc.read(descriptor, target.baseAddress, target.count)
            if count >= 0 {
                bytesRead += count
                return count
            }
            let code = errno
            guard code == EINTR else { throw Self.failure(code, file) }
        }
    }

    private mutating func inflate(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        while true {
            if inflater?.needsInput == true, let input = inflater?.input {
                let count = try readFile(into: input)
                inflater?.supplied(count)
            }
            switch inflater?.inflate(into: target) {
            case .produced(let count): return count
            case .end, nil: return 0
            case .needsInput: continue
            case .failed(let message, let consumed, let produced):
                throw Diagnostic(
                    "the gzip data \(message), after \(consumed) compressed bytes (\(produced) bytes of text)", file: file,
                    remedy: "Was the upload cut off? Export the file again.")
            }
        }
    }
}
