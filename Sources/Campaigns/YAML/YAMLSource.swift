import Base
import Glibc

/// The text of a YAML file, checked before any parser sees it: UTF-8, without control characters,
/// and with the line ends that editors count, so that every place in an error is the place an
/// editor shows.
struct YAMLSource {
    /// A campaign is a page of text; anything larger was given by mistake (an export, for
    /// instance).
    static let maximumBytes = 1_000_000

    let file: String
    /// Without a byte order mark.
    let bytes: [UInt8]
    private let lineStarts: [Int]
    /// The column after the last character of the last line.
    private let endColumn: Int
    /// How much of a line errors look at: longer lines were not written by hand.
    private static let shownLineBytes = 4_000

    /// Reads and checks a file.
    init(file: String) throws(Diagnostic) {
        try self.init(file: file, bytes: try readWholeFile(file, limit: Self.maximumBytes))
    }

    /// Checks what was read.
    init(file: String, bytes: [UInt8]) throws(Diagnostic) {
        guard bytes.count <= Self.maximumBytes else {
            throw Diagnostic(
                "the file is larger than 1 MB, too large for a campaign or volley.yaml", file: file,
                remedy: "Name device exports under 'devices'; do not give one in place of a campaign.")
        }
        if let other = TextEncoding.foreign(bytes) {
            throw Diagnostic("the file is written in \(other), not in UTF-8", file: file, remedy: TextEncoding.remedy)
        }
        if let mistake = Self.otherDocument(bytes) {
            throw Diagnostic(mistake.message, file: file, remedy: mistake.remedy)
        }
        self.file = file
        self.bytes = bytes.starts(with: TextEncoding.mark) ? Array(bytes.dropFirst(TextEncoding.mark.count)) : bytes
        (lineStarts, endColumn) = try Self.checkCharacters(of: self.bytes, file: file)
    }

    /// The file's text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// A place in the file; the end of the file for what lies beyond it, as libyaml's last line
    /// does.
    func place(line: Int, column: Int) -> SourcePosition {
        guard line <= lineStarts.count else {
            return SourcePosition(file: file, line: lineStarts.count, column: endColumn)
        }
        return SourcePosition(file: file, line: line, column: column)
    }

    /// At least 1.
    var lineCount: Int { lineStarts.count }

    /// A line without its end (of a very long one, the beginning), counted from 1; empty beyond the
    /// last.
    func line(_ number: Int) -> [Unicode.Scalar] {
        guard number >= 1, number <= lineStarts.count else { return [] }
        let start = lineStarts[number - 1]
        let end = min(number < lineStarts.count ? lineStarts[number] : bytes.count, start + Self.shownLineBytes)
        let line = String(decoding: bytes[start..<end], as: UTF8.self)
        return Array(line.unicodeScalars.prefix { $0 != "\n" && $0 != "\r" })
    }

    /// What word processors save by default.
    private static func otherDocument(_ bytes: [UInt8]) -> Mistake? {
        let remedy = "Save it as plain text (.txt, UTF-8) and name it .yaml, or write it with a text editor."
        if bytes.starts(with: "{\\rtf".utf8) {
            return Mistake("this is a Rich Text document, not a text file", remedy: remedy)
        }
        if bytes.starts(with: "PK\u{3}\u{4}".utf8) {
            return Mistake("this is a word processor or spreadsheet document, not a text file", remedy: remedy)
        }
        return nil
    }

    /// Finds the lines, and the first character that the file must not hold.
    private static func checkCharacters(of bytes: [UInt8], file: String) throws(Diagnostic) -> (
        lineStarts: [Int], endColumn: Int
    ) {
        var lineStarts = [0]
        var offset = 0
        var column = 1
        while offset < bytes.count {
            let byte = bytes[offset]
            let place = SourcePosition(file: file, line: lineStarts.count, column: column)
            if byte == 0x0A || byte == 0x0D {
                let isPair = byte == 0x0D && offset + 1 < bytes.count && bytes[offset + 1] == 0x0A
                offset += isPair ? 2 : 1
                lineStarts.append(offset)
                column = 1
                continue
            }
            if byte < 0x20 || byte > 0x7E {
                guard let scalar = scalar(at: offset, in: bytes) else { throw notUTF8(byte: byte, at: place) }
                if let mistake = mistake(about: scalar, isFirst: offset == 0) {
                    throw Diagnostic(mistake.message, at: place, remedy: mistake.remedy)
                }
                offset += UTF8.width(scalar)
            } else {
                offset += 1
            }
            column += 1
        }
        return (lineStarts, column)
    }

    private static func scalar(at offset: Int, in bytes: [UInt8]) -> Unicode.Scalar? {
        var decoder = UTF8()
        var iterator = bytes[offset..<min(offset + 4, bytes.count)].makeIterator()
        if case .scalarValue(let scalar) = decoder.decode(&iterator) { return scalar }
        return nil
    }

    private static func notUTF8(byte: UInt8, at place: SourcePosition) -> Diagnostic {
        Diagnostic(
            "the file is not UTF-8: the byte 0x\(TextFormat.hex(byte, digits: 2, uppercase: true)) is not a character here",
            at: place,
            remedy: TextEncoding.remedy)
    }

    /// libyaml takes U+0085, U+2028 and U+2029 for line ends (YAML 1.1), which editors do not show
    /// and YAML 1.2 no longer has.
    private static func mistake(about scalar: Unicode.Scalar, isFirst: Bool) -> Mistake? {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0x7E: return nil
        case 0x85, 0x2028, 0x2029:
            return Mistake(
                "there is an invisible line separator (\(TextFormat.codePoint(scalar))) here",
                remedy:
                    "Delete it, and press Enter where a new line should begin; it often comes with text copied from a word processor."
            )
        case 0xFEFF:
            return Mistake(
                isFirst
                    ? "the file begins with two byte order marks (U+FEFF), which are invisible"
                    : "there is an invisible byte order mark (U+FEFF) in the middle of the file",
                remedy: "Delete it; it often appears where two files were put together.")
        case 0..<0x20, 0x7F..<0xA0, 0xFFFE, 0xFFFF:
            return Mistake(
                "there is an invisible control character (\(TextFormat.codePoint(scalar))) here",
                remedy: "Delete it, or write the line again by hand.")
        default: return nil
        }
    }
}

/// Reads a file of at most `limit` bytes; of a longer one, more than that.
private func readWholeFile(_ file: String, limit: Int) throws(Diagnostic) -> [UInt8] {
    guard !file.isEmpty, !file.utf8.contains(0) else { throw Diagnostic("there is no such file", file: file) }
    do throws(FileError) { return try RegularFile.bytes(of: file, atMost: limit) } catch {
        switch error {
        case .system(let code): throw cannotRead(file, code: code)
        case .notAFile(let kind): throw kind.refusal(file)
        }
    }
}

/// The console does not show where a link leads.
private func deadLink(_ file: String) -> Diagnostic? {
    var mistake = FileKind.deadLink(file)
    mistake?.plainMessage = "this is a link that leads nowhere"
    return mistake
}

/// Why a file cannot be read, in words.
func cannotRead(_ file: String, code: Int32) -> Diagnostic {
    switch code {
    case ENOENT, ENOTDIR, ELOOP:
        FilePaths.misencoded(file) ?? deadLink(file)
            ?? Diagnostic(
                "there is no such file", file: file, remedy: "Check the name, and the folder that you are in.")
    default:
        (code == EACCES ? FileAccess.problem(file, .reading, purpose: nil) : nil)
            ?? FileError.system(code).diagnostic("the file cannot be read", file: file)
    }
}
