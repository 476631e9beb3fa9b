public import Base

/// Lists in separate files, one name a line: `aliases: {file: vip.txt}`.
public enum NameFile {
    /// Reads a list: white space around a name does not count; blank lines and lines that begin
    /// with `#` are skipped. Lines end in LF, CRLF or CR; the file is UTF-8, with or without byte
    /// order marks in front of lines, and may be compressed when its name ends in `.gz`.
    /// - Parameter sources: records that the file was read, when it must stay unchanged for longer.
    /// - Throws: `Diagnostic` for a file that is missing, empty, not a regular file, not UTF-8
    ///   (with the line), or changed while it is read.
    public static func read(_ path: String, noting sources: SourceFiles = SourceFiles()) throws(Diagnostic) -> [String]
    {
        var names: [String] = []
        try forEachName(in: path, limits: ReadingLimits(sources: sources)) { name, _ in
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// A list with the places of its names.
    public struct Listed: Sendable {
        /// In the order of the file.
        public var names: [String] = []
        /// The places of the first thousand names; a program wrote any longer list.
        public var places: [SourceText] = []
        /// Lines that begin with `#` and a name, as `#vip`, rather than with a comment: the first
        /// hundred, and how many there are.
        public var hashed: [SourceText] = []
        /// See `hashed`.
        public var hashedLines = 0
    }

    /// Reads a list as `read` does.
    public static func list(_ path: String, noting sources: SourceFiles) throws(Diagnostic) -> Listed {
        var list = Listed()
        try forEachName(
            in: path, limits: ReadingLimits(sources: sources),
            comment: { text, line in
                guard text.count > 1, !isSpace(text[1]), text[1] != UInt8(ascii: "#"), !text.contains(where: isSpace)
                else { return }
                list.hashedLines += 1
                guard list.hashed.count < 100 else { return }
                list.hashed.append(
                    SourceText(
                        String(decoding: text, as: UTF8.self), at: SourcePosition(file: path, line: line, column: 1)))
            }
        ) { name, line in
            let name = String(decoding: name, as: UTF8.self)
            list.names.append(name)
            if list.places.count < 1_000 {
                list.places.append(SourceText(name, at: SourcePosition(file: path, line: line, column: 1)))
            }
        }
        return list
    }

    /// Hands over one name after another, each with its line, without keeping them.
    static func forEachName(
        in path: String, limits: ReadingLimits = ReadingLimits(),
        comment: (UnsafeBufferPointer<UInt8>, Int) -> Void = { _, _ in },
        _ body: (UnsafeBufferPointer<UInt8>, Int) -> Void
    ) throws(Diagnostic) {
        var buffer = try RecordBuffer.open(path: path, isGzip: path.lowercased().hasSuffix(".gz"), limits: limits)
        var line = 1
        while true {
            var end = buffer.start
            while buffer.base[end] != 0x0A, buffer.base[end] != 0x0D { end += 1 }
            // The buffer ends with a line feed that is not in the file.
            if end >= buffer.end || buffer.base[end] == 0x0D && end + 1 == buffer.end, !buffer.isAtEnd {
                try buffer.refill()
                continue
            }
            if buffer.zeroBytes < min(end, buffer.end) { throw buffer.holdsZeroBytes(line: line) }
            var name = trimmed(
                UnsafeBufferPointer(start: buffer.base + buffer.start, count: min(end, buffer.end) - buffer.start))
            // Lists that were put together have byte order marks within.
            let mark = TextEncoding.markBytes(name)
            if mark > 0 { name = trimmed(UnsafeBufferPointer(rebasing: name[mark...])) }
            if let flaw = buffer.flaw(from: buffer.start, to: min(end, buffer.end)) {
                throw Diagnostic(
                    flaw.text(of: "line"), at: SourcePosition(file: path, line: line, column: 1),
                    remedy: "Save the list as UTF-8.")
            }
            if let first = name.first { first == UInt8(ascii: "#") ? comment(name, line) : body(name, line) }
            if end >= buffer.end { return }
            let isPair = buffer.base[end] == 0x0D && end + 1 < buffer.end && buffer.base[end + 1] == 0x0A
            buffer.start = end + (isPair ? 2 : 1)
            line += 1
        }
    }
}
