import Base
import Glibc

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
            guard stamp.size > 0 else { throw Diagnostic("the file is empty", file: path, remedy: "Check whether the export finished.") }
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
            case .notAFile(.folder): throw FileKind.folder.refusal(path, remedy: "Use a glob for the files in it: \(path)/*.csv.")
            case .notAFile(let kind): throw kind.refusal(path, remedy: "Exports are read twice: save it as a file first.")
            }
        }
    }

    private static func failure(_ code: Int32, path: String) -> Diagnostic {
        switch code {
        case ENOENT, ENOTDIR:
            FilePaths.misencoded(path)
                ?? Diagnostic("there is no such file", file: path, remedy: "Paths are relative to the file that names them.")
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

    /// The message for a file whose first byte no gzip file has.
    private static func noGzip(_ input: UnsafeMutableBufferPointer<UInt8>, file: String) -> Diagnostic {
        if input.starts(with: [UInt8(ascii: "P"), UInt8(ascii: "K"), 3, 4]) {
            return Diagnostic(
                "this is a zip archive or a spreadsheet, though its name ends in .gz", file: file,
                remedy: "Export it as CSV, UTF-8; compress it with gzip or not at all.")
        }
        return Diagnostic(
            "the file is not compressed, though its name ends in .gz", file: file, remedy: "Rename it to \(file.dropLast(3)).")
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
                    "the gzip data \(message), after \(consumed) compressed bytes (\(produced) bytes of text)", file: file,
                    remedy: "The upload may have been cut off. Export the file again.")
            }
        }
    }
}
