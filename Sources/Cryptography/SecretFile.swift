import Base
import COpenSSL
import Glibc

/// Bytes that are wiped before their memory is freed.
struct SecretBytes: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) { storage = .allocate(byteCount: capacity, alignment: 1) }

    /// The bytes of a text, as `normalizeText` leaves them.
    init(_ bytes: some Collection<UInt8>) {
        storage = .allocate(byteCount: max(1, bytes.count), alignment: 1)
        storage.copyBytes(from: bytes)
        count = bytes.count
        normalizeText()
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// The bytes, valid as long as this value.
    borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }

    /// Removes the byte order marks in front of a text. In PEM, brings every line into the form
    /// that OpenSSL reads: editors and tools indent lines, end them with CR alone, and leave marks
    /// where they put files together.
    mutating func normalizeText() {
        remove(first: TextEncoding.markBytes(storage[..<count]))
        let text = UnsafeRawBufferPointer(rebasing: storage[..<count])
        guard PEMLabels(text).isPEM else { return }
        var (from, to) = (0, 0)
        while from < count {
            let start = from + PEMLabels.marginBytes(UnsafeRawBufferPointer(rebasing: text[from...]))
            let end = text[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? count
            for place in start..<end {
                storage[to] = storage[place]
                to += 1
            }
            guard end < count else { break }
            // Before the line end is written: it may replace the CR that this looks at.
            from = end + (storage[end] == 0x0D && end + 1 < count && storage[end + 1] == 0x0A ? 2 : 1)
            storage[to] = 0x0A
            to += 1
        }
        count = to
    }

    private mutating func remove(first bytes: Int) {
        guard bytes > 0, let start = storage.baseAddress else { return }
        count -= bytes
        memmove(start, start + bytes, count)
    }

    /// Reads until the end of the file, or until the capacity is full.
    mutating func fill(from file: borrowing RegularFile) throws(FileError) {
        while count < storage.count {
            let got = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: storage[count...]))
            if got == 0 { return }
            count += got
        }
    }
}

/// A file that contains a secret: how to read it, and which other users may read it.
enum SecretFile {
    /// No key or certificate is nearly this large.
    private static let maximumBytes = 1 << 20

    /// Reads a whole file.
    /// - Parameter kind: what the file should be, for the message: 'key', 'certificate'.
    static func read(_ file: String, kind: String) throws(Diagnostic) -> SecretBytes {
        let opened = try open(file, kind: kind)
        var bytes = SecretBytes(capacity: maximumBytes)
        do throws(FileError) { try bytes.fill(from: opened) } catch {
            guard case .system(let code) = error else { fatalError("an open file became something else") }
            throw Diagnostic(
                "the \(kind) file cannot be read: \(systemMessage(code))", file: file,
                remedy: "Check the disk and the file.")
        }
        guard bytes.count < maximumBytes else {
            throw Diagnostic(
                "this is too large to be a \(kind) file", file: file, remedy: "Check the path in volley.yaml.")
        }
        if let other = bytes.withBytes({ TextEncoding.foreign($0) }) {
            throw Diagnostic(
                "the \(kind) file is written in \(other), not in UTF-8", file: file, remedy: TextEncoding.remedy)
        }
        bytes.normalizeText()
        guard bytes.count > 0 else {
            throw Diagnostic(
                "the \(kind) file is empty", file: file,
                remedy: "Copy it again from where it was downloaded or exported.")
        }
        return bytes
    }

    private static func open(_ file: String, kind: String) throws(Diagnostic) -> RegularFile {
        do throws(FileError) { return try RegularFile(path: file) } catch {
            switch error {
            case .system(let code): throw cannotOpen(file, kind: kind, error: code)
            case .notAFile(.folder):
                throw Diagnostic(
                    "this is a directory, not a \(kind) file", file: file, remedy: "Name the file inside it.")
            case .notAFile(let found): throw found.refusal(file, wanted: "a \(kind) file")
            }
        }
    }

    /// A warning if users other than the owner may read or change the file; nil if they may not, or
    /// if there is no such file.
    static func permissionWarning(_ file: String) -> Diagnostic? {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let others = status.st_mode & 0o077
        guard others != 0 else { return nil }
        let mode = String(status.st_mode & 0o777, radix: 8)
        return .warning(
            .secretReadable, message: "other users of this machine can use this secret (its permissions are \(mode))",
            file: file,
            remedy: "Run: chmod 600 \(shellQuoted(file))")
    }

    private static func cannotOpen(_ file: String, kind: String, error: Int32) -> Diagnostic {
        switch error {
        case ENOENT, ENOTDIR:
            Diagnostic(
                "there is no such \(kind) file", file: file,
                remedy: "Correct the path in volley.yaml, or copy the file there.")
        case EACCES, EPERM:
            Diagnostic(
                "this user may not read the \(kind) file", file: file,
                remedy: "Give the file to the user that runs Volley, with permissions 600.")
        default:
            Diagnostic(
                "the \(kind) file cannot be opened: \(systemMessage(error))", file: file,
                remedy: "Check the path in volley.yaml.")
        }
    }

    static func systemMessage(_ error: Int32) -> String { SystemError.words(error) }
}

/// `text` as one word of a shell command.
func shellQuoted(_ text: String) -> String {
    let safe = text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "/._-+=:@,".utf8.contains(byte)
        }
    }
    guard !safe || text.isEmpty else { return text }
    return "'" + text.replacing(scalar: "'", with: "'\\''") + "'"
}
