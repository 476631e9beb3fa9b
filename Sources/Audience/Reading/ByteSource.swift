public import Base
import Glibc
import Synchronization

/// A file read from front to back, inflated on the way if it is gzip.
struct ByteSource: ~Copyable {
    /// The path as the caller named it.
    let file: String
    /// Bytes on disk.
    let size: Int
    /// Bytes read from the disk so far.
    private(set) var bytesRead = 0
    private let opened: RegularFile
    private var inflater: Inflater?

    /// - Parameter sources: records that the file is read.
    init(path: String, isGzip: Bool, noting sources: SourceFiles) throws(Diagnostic) {
        opened = try Self.open(path, sources)
        file = path
        size = opened.stamp.size
        inflater = isGzip ? Inflater() : nil
    }

    private static func open(_ path: String, _ sources: SourceFiles) throws(Diagnostic) -> RegularFile {
        let opened = try open(path)
        let stamp = opened.stamp
        do throws(Diagnostic) {
            try sources.opened(path, stamp, descriptor: opened.descriptor)
            guard stamp.size > 0 else {
                throw Diagnostic("the file is empty", file: path, remedy: "Check whether the export finished.")
            }
        } catch {
            // Swift 6.3.1 forgets to destroy it when the call throws across it.
            _ = consume opened
            throw error
        }
        return opened
    }

    private static func open(_ path: String) throws(Diagnostic) -> RegularFile {
        do throws(FileError) { return try RegularFile(path: path) } catch {
            switch error {
            case .system(let code): throw failure(code, path: path)
            case .notAFile(.folder):
                throw FileKind.folder.refusal(path, remedy: "Use a glob for the files in it: \(path)/*.csv.")
            case .notAFile(let kind):
                throw kind.refusal(path, remedy: "Exports are read twice: save it as a file first.")
            }
        }
    }

    private static func failure(_ code: Int32, path: String) -> Diagnostic {
        switch code {
        case ENOENT, ENOTDIR:
            FilePaths.misencoded(path)
                ?? Diagnostic(
                    "there is no such file", file: path, remedy: "Paths are relative to the file that names them.")
        default:
            (code == EACCES ? FileAccess.problem(path, .reading, purpose: nil) : nil)
                ?? FileError.system(code).diagnostic("the file cannot be read", file: path)
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
        let count: Int
        do throws(FileError) { count = try opened.read(into: UnsafeMutableRawBufferPointer(target)) } catch {
            guard case .system(let code) = error else { fatalError("an open file became something else") }
            throw Self.failure(code, path: file)
        }
        bytesRead += count
        if count == 0, target.count > 0 { try checkUnchanged() }
        return count
    }

    /// Checks, at the end of the file, that its size is the same as when it was opened.
    private func checkUnchanged() throws(Diagnostic) {
        let now = opened.stampNow()
        if now == opened.stamp, now == FileStamp(path: file) { return }
        if let change = SourceFiles.change(of: file, from: opened.stamp, to: now) { throw change }
        if let change = SourceFiles.change(of: file, from: opened.stamp, to: FileStamp(path: file)) { throw change }
    }

    /// The message for a file with a first byte that no gzip file has.
    private static func noGzip(_ input: UnsafeMutableBufferPointer<UInt8>, file: String) -> Diagnostic {
        if input.starts(with: [UInt8(ascii: "P"), UInt8(ascii: "K"), 3, 4]) {
            return Diagnostic(
                "this is a zip archive or a spreadsheet, though its name ends in .gz", file: file,
                remedy: "Export it as CSV, UTF-8; compress it with gzip or not at all.")
        }
        return Diagnostic(
            "the file is not compressed, though its name ends in .gz", file: file,
            remedy: "Rename it to \(file.dropLast(3)).")
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
                // The first byte decides what kind of file it is.
                if consumed == 0, produced == 0, let input = inflater?.input, input[0] != Inflater.firstByte {
                    throw Self.noGzip(input, file: file)
                }
                throw Diagnostic(
                    "the gzip data \(message), after \(consumed) compressed bytes (\(produced) bytes of text)",
                    file: file,
                    remedy: "The upload may have been cut off. Export the file again.")
            }
        }
    }
}

/// The files that are read for one audience, each as it was when first opened. An export that is
/// still being written ends in the middle of its devices without any other sign, so every file must
/// be the same, with the same content, whenever it is opened again and when everything is read.
public final class SourceFiles: Sendable {
    /// Why an open file must not be read, by its path, its descriptor and the descriptor's stamp;
    /// nil if it may.
    public typealias Limit = @Sendable (String, Int32, FileStamp) -> Diagnostic?

    private let seen = Mutex<[String: FileStamp]>([:])
    private let trusted = Mutex<Set<String>>([])
    private let limit: Limit?

    /// Nothing was read yet.
    /// - Parameter limit: decides for each file, when it is open and before a byte of it is read;
    ///   nil to read every file.
    public init(limit: Limit? = nil) { self.limit = limit }

    /// The same limit, and nothing read yet.
    func anew() -> SourceFiles {
        let sources = SourceFiles(limit: limit)
        sources.trust(Array(trusted.withLock { $0 }))
        return sources
    }

    /// Files that no campaign chose, but volley.yaml or Volley itself: the limit is not for them.
    public func trust(_ paths: [String]) { trusted.withLock { $0.formUnion(paths) } }

    /// Notes a file that was opened.
    /// - Throws: it must not be read; it was opened before, and has changed since.
    func opened(_ path: String, _ stamp: FileStamp, descriptor: Int32) throws(Diagnostic) {
        if let limit, !trusted.withLock({ $0.contains(path) }), let refusal = limit(path, descriptor, stamp) {
            throw refusal
        }
        let first = seen.withLock { seen in
            if seen[path] == nil { seen[path] = stamp }
            return seen[path] ?? stamp
        }
        if let change = Self.change(of: path, from: first, to: stamp) { throw change }
    }

    /// Checks every file again.
    /// - Throws: those that are not as they were when they were opened.
    public func checkUnchanged() throws(Diagnostics) {
        let files = seen.withLock { $0 }.sorted { $0.key < $1.key }
        let changes = files.compactMap { Self.change(of: $0.key, from: $0.value, to: FileStamp(path: $0.key)) }
        if !changes.isEmpty { throw Diagnostics(changes) }
    }

    /// What happened to a file between two checks; nil when it is unchanged.
    /// - Parameter after: nil when the file no longer exists.
    static func change(of path: String, from before: FileStamp, to after: FileStamp?) -> Diagnostic? {
        guard before != after else { return nil }
        let what =
            if let after {
                if !after.isSameFile(as: before) {
                    "was replaced by another file"
                } else if after.size > before.size {
                    "grew from \(TextFormat.count(before.size)) to \(TextFormat.count(after.size)) bytes"
                } else if after.size < before.size {
                    "shrank from \(TextFormat.count(before.size)) to \(TextFormat.count(after.size)) bytes"
                } else {
                    "was changed"
                }
            } else {
                "was removed or renamed"
            }
        return Diagnostic(
            "the file \(what) while it was read", file: path,
            remedy: "Wait until it is complete, and try again. "
                + "To avoid this, write the file under another name and rename it when it is complete.")
    }
}
