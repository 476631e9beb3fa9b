public import Base
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

/// A secret text that a service gives out once, in a file of its own or in an environment variable.
public struct PlainSecret: Sendable {
    /// No service's secret is longer.
    private static let longest = 256

    private let place: SecretDocument.Place
    private let noun: String

    /// A secret that was not read yet.
    /// - Parameter noun: what messages call it: "master secret".
    public init(at place: SecretDocument.Place, noun: String) {
        self.place = place
        self.noun = noun
    }

    /// Reads it. White space around it and byte order marks in front do not count: editors write
    /// both.
    /// - Throws: a `Diagnostic` that does not repeat anything of the secret: it is missing, or
    ///   something else.
    public func text() throws(Diagnostic) -> String {
        let bytes: [UInt8]
        switch place {
        case .file(let file): bytes = try SecretFile.read(file, kind: noun).withBytes { Array($0) }
        case .variable(let name):
            guard let value = EnvironmentVariables[name] else {
                throw mistake("which should hold the \(noun), is not set", joint: ", ")
            }
            bytes = Array(value.utf8)
        }
        let trimmed = bytes.dropFirst(TextEncoding.markBytes(bytes)).drop(while: Self.isSpace)
        let end = trimmed.lastIndex { !Self.isSpace($0) }
        guard let end else { throw mistake("is blank") }
        let secret = trimmed[...end]
        if let hidden = String(decoding: secret, as: UTF8.self).unicodeScalars.first(where: {
            $0.value > 0x20 && Blank.isInvisible($0)
        }) {
            throw mistake("holds an invisible character (\(TextFormat.codePoint(hidden))) next to the \(noun)")
        }
        if let flaw = Self.surrounding(String(decoding: secret, as: UTF8.self)) {
            throw mistake(
                "holds more than the \(noun): \(flaw)",
                remedy: "Write the value alone into it, without its name and without quotes.")
        }
        guard secret.count <= Self.longest, secret.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw mistake("holds something else than the \(noun), which is one word")
        }
        return String(decoding: secret, as: UTF8.self)
    }

    /// A warning if other users of the machine may read the file, with the command that prevents
    /// this; nil if they may not.
    public var permissionWarning: Diagnostic? {
        guard case .file(let file) = place else { return nil }
        return SecretFile.permissionWarning(file)
    }

    /// What is around a secret in the way of shells and other files; nil for a secret alone.
    private static func surrounding(_ text: String) -> String? {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last else { return nil }
        // A secret in base64 ends with `=`.
        if text.contains(/^(?:export\s+)?[A-Za-z_]{3,}\s*=\s*[^=\s]/) { return "a name and a '=' in front of it" }
        if text.contains(/^[A-Za-z_ ]{3,}:\s+\S/) { return "a name and a colon in front of it" }
        guard isQuote(first) || isQuote(last) else { return nil }
        return isQuote(first) && isQuote(last) ? "quotes around it" : "a quote next to it"
    }

    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return "\"'`\u{B4}\u{201E}\u{201A}".unicodeScalars.contains(scalar) || category == .initialPunctuation
            || category == .finalPunctuation
    }

    /// - Parameter remedy: nil for "copy it".
    private func mistake(_ clause: String, joint: String = " ", remedy: String? = nil) -> Diagnostic {
        switch place {
        case .file(let file):
            Diagnostic(
                "this file \(clause)", file: file,
                remedy: remedy ?? "Copy the \(noun) from the service's console into it, and nothing else.")
        case .variable(let name):
            Diagnostic(
                "the environment variable \(SecretText.variable(name))\(joint)\(clause)",
                remedy: remedy?.replacing("into it", with: "into the variable")
                    ?? SecretText.remedy(
                        forUnset: name, noun: noun,
                        "Set it to the \(noun) from the service's console, for example with `read -s \(name); export \(name)`."
                    ))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
