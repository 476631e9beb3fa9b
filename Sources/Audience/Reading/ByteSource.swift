public import Base
import CISAL
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

/// Inflates gzip data of any number of members, as `cat a.gz b.gz` makes them: with ISA-L, which
/// takes half the time of zlib.
struct Inflater: ~Copyable {
    /// The result of a step.
    enum Step {
        case produced(Int)
        case needsInput
        case end
        case failed(message: String, consumed: Int, produced: Int)
    }

    /// Put compressed bytes here before you call `supplied`.
    let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    // Large, as it holds the window.
    private let state = UnsafeMutablePointer<inflate_state>.allocate(capacity: 1)
    /// Read separately, because ISA-L 2.30 forgets the header's checksum when `isal_inflate` meets
    /// the header in two pieces.
    private let header = UnsafeMutablePointer<isal_gzip_header>.allocate(capacity: 1)
    private var isInHeader = false
    /// Before the first member, too.
    private var isBetweenMembers = true
    private var isInputAtEnd = false
    private var membersRead = 0
    private var consumed = 0
    /// Zero bytes after the last member, which count as consumed.
    private var padding = 0
    private var produced = 0

    init() {
        header.initialize(to: isal_gzip_header())
        isal_inflate_init(state)
        // Header and checksum of every member are checked.
        state.pointee.crc_flag = UInt32(ISAL_GZIP)
        state.pointee.avail_in = 0
    }

    deinit {
        state.deallocate()
        header.deallocate()
        input.deallocate()
    }

    /// Whether all input was used up.
    var needsInput: Bool { state.pointee.avail_in == 0 && !isInputAtEnd }

    /// Tells how many bytes are in `input`; 0 means the end of the file.
    mutating func supplied(_ count: Int) {
        isInputAtEnd = count == 0
        state.pointee.next_in = input.baseAddress
        state.pointee.avail_in = UInt32(count)
    }

    /// Inflates into `target` as far as the input goes.
    mutating func inflate(into target: UnsafeMutableBufferPointer<UInt8>) -> Step {
        if isBetweenMembers {
            if membersRead > 0 { skipPadding() }
            guard state.pointee.avail_in > 0 else { return isInputAtEnd ? end() : .needsInput }
            if padding > 0 { return zeroBytes() }
            // A file shorter than a header would only be reported as cut off.
            guard state.pointee.next_in[0] == Self.firstByte else { return failure(noMember) }
            isal_inflate_reset(state)
            isal_gzip_header_init(header)
            (isBetweenMembers, isInHeader) = (false, true)
        }
        if isInHeader, let step = readHeader() { return step }
        let (inputBefore, room) = (state.pointee.avail_in, UInt32(clamping: target.count))
        state.pointee.next_out = target.baseAddress
        state.pointee.avail_out = room
        let code = isal_inflate(state)
        noteConsumed(of: inputBefore)
        let count = Int(room - state.pointee.avail_out)
        produced += count
        if let message = message(code) { return failure(message) }
        if state.pointee.block_state == ISAL_BLOCK_FINISH {
            isBetweenMembers = true
            membersRead += 1
        }
        if count > 0 { return .produced(count) }
        if isBetweenMembers || !isInputAtEnd { return .needsInput }
        return failure("ends too early")
    }

    /// - Returns: nil once the header is read.
    private mutating func readHeader() -> Step? {
        let inputBefore = state.pointee.avail_in
        let code = isal_read_gzip_header(state, header)
        noteConsumed(of: inputBefore)
        if let message = message(code) { return failure(message) }
        guard code == ISAL_DECOMP_OK else { return isInputAtEnd ? failure("ends too early") : .needsInput }
        isInHeader = false
        return nil
    }

    /// When it finds damage, ISA-L may leave more input than there was: bytes that it had buffered.
    private mutating func noteConsumed(of inputBefore: UInt32) {
        consumed += Int(inputBefore - min(inputBefore, state.pointee.avail_in))
    }

    /// RFC 1952, section 2.3.1.
    static let firstByte: UInt8 = 0x1F

    private var noMember: String { membersRead > 0 ? "is followed by something else" : "is damaged" }

    /// What is wrong; nil when there is no error.
    private func message(_ code: Int32) -> String? {
        switch code {
        case ISAL_INVALID_WRAPPER: noMember
        case ISAL_DECOMP_OK, ISAL_END_INPUT, ISAL_OUT_OVERFLOW: nil
        default: "is damaged"
        }
    }

    /// A file from a tape ends with the rest of its last block as zeros: POSIX (pax, ustar) has
    /// blocks of 512 bytes, and at most twenty of them in a record. Any other zeros mean that
    /// something was not written.
    private func end() -> Step { padding == 0 || padding < 10_240 && consumed.isMultiple(of: 512) ? .end : zeroBytes() }

    private func zeroBytes() -> Step {
        .failed(
            message: "is followed by \(padding) zero bytes, like a file that was not completely written",
            consumed: consumed - padding,
            produced: produced)
    }

    private mutating func skipPadding() {
        while state.pointee.avail_in > 0, let next = state.pointee.next_in, next.pointee == 0 {
            state.pointee.next_in = next + 1
            // Not `-=`: under the thread sanitizer Swift 6.3.1 cannot compile that.
            state.pointee.avail_in = state.pointee.avail_in - 1
            consumed += 1
            padding += 1
        }
    }

    private func failure(_ message: String) -> Step {
        .failed(message: message, consumed: consumed, produced: produced)
    }
}
