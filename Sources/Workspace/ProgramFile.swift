public import Base
import Glibc

/// A program that volley.yaml names, and whether its file can be started. The system's own error is
/// about another file (`#!/bin/sh` and a carriage return is "No such file or directory"), so the
/// file is read: its kind, its permissions and its first line.
///
/// Input: the first word of a command. Output: the problem with it, and the remedy. Nothing is
/// started.
///
/// ```swift
/// let flaw = ProgramFile("./notify.sh", beside: "/srv/shop").flaw
/// ```
public struct ProgramFile {
    private let word: String
    private let folder: String
    private let searchPath: String

    /// - Parameters:
    ///   - word: a path, or a name that is looked up in PATH.
    ///   - folder: of volley.yaml, for a name that was meant as a path.
    ///   - searchPath: PATH; nil for this process's.
    public init(_ word: String, beside folder: String, searchPath: String? = nil) {
        self.word = word
        self.folder = folder
        // What posix_spawnp(3) takes without PATH.
        self.searchPath = searchPath ?? EnvironmentVariables["PATH"] ?? "/bin:/usr/bin"
    }

    /// Why the program cannot be started, or cannot do what was meant; nil if the file shows no
    /// problem.
    public var flaw: Diagnostic? {
        if let commandLine { return commandLine }
        if word.contains("/") { return Self.flaw(ofFile: word) ?? flaw(inContentOf: word) }
        if let path = found(word) { return flaw(inContentOf: path) }
        let isHere = FilePaths.exists(FilePaths.join(folder, name: word))
        return Diagnostic(
            "there is no program \(TextFormat.inLine(SecretText.program(word))) in PATH",
            file: SecretText.program(word),
            remedy: isHere
                ? "There is such a file next to volley.yaml: write ./\(word)." : "Install it, or write its path.")
    }

    /// The mistake of a program with its arguments in one word; nil if the word is the name of a
    /// file. Arguments may be secrets, and are not repeated.
    private var commandLine: Diagnostic? {
        guard let program = word.split(whereSeparator: \.isWhitespace).first, program.count < word.count,
            word.contains("/") ? !FilePaths.exists(word) : found(word) == nil
        else { return nil }
        let first = TextFormat.inLine(String(program))
        return Diagnostic(
            "\(TextFormat.inLine(SecretText.program(word))) is a whole command line, not the name of a program",
            file: SecretText.program(word),
            remedy:
                "Write each word as an item of its own: [\(first), …]. Or let a shell read the line: [/bin/sh, -c, \"\(first) …\"]."
        )
    }

    private func found(_ name: String) -> String? {
        searchPath.split(separator: ":", omittingEmptySubsequences: false).lazy.map {
            FilePaths.join($0.isEmpty ? "." : String($0), name: name)
        }.first { Self.flaw(ofFile: $0) == nil }
    }

    // MARK: - The file

    private static func flaw(ofFile path: String) -> Diagnostic? {
        func flaw(_ words: String, _ remedy: String) -> Diagnostic { Diagnostic(words, file: path, remedy: remedy) }
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            if code == ENOENT, lstat(path, &status) == 0 {
                return flaw("this is a link that leads nowhere", "Make the link again, or name the program itself.")
            }
            guard code == ENOENT else {
                return FileError.system(code).diagnostic("the program cannot be looked up", file: path)
            }
            let nearest = FilePaths.nearest(to: path).map { "Did you mean \($0)?" }
            return flaw(
                "there is no such program", nearest ?? "Correct the path in volley.yaml; it is relative to that file.")
        }
        guard let kind = FileKind(path: path), kind == .regular else {
            return flaw("this is \(FileKind(path: path)?.text ?? "nothing"), not a program", "Name the program's file.")
        }
        // ST_NOEXEC of sys/statvfs.h, which Swift does not import.
        var system = statvfs()
        if statvfs(path, &system) == 0, system.f_flag & 8 != 0 {
            return flaw(
                "its file system is mounted with noexec, so no program on it can be started",
                "Move it to another file system, or start it by its interpreter: [/bin/sh, \(path)].")
        }
        guard faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0 else { return nil }
        let code = errno, user = FileAccess.name(ofUser: geteuid())
        guard code == EACCES else {
            return FileError.system(code).diagnostic("\(user) may not execute this program", file: path)
        }
        let canRead = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0
        let owner = status.st_uid == geteuid() ? nil : FileAccess.name(ofUser: status.st_uid)
        return flaw(
            "\(user) may not execute this program", rightToStart(path, canRead: canRead, owner: owner, user: user))
    }

    /// How a user gets the right to start a program. It includes the right to read it, without
    /// which an interpreter cannot open it.
    /// - Parameter owner: nil if it belongs to the user.
    static func rightToStart(_ path: String, canRead: Bool, owner: String?, user: String) -> String {
        let file = FilePaths.inShell(path)
        return switch (canRead, owner) {
        case (true, nil): "Run `chmod +x \(file)`."
        case (true, let owner?): "Run `chmod a+x \(file)` as \(owner)."
        case (false, nil): "Run `chmod u+rx \(file)`."
        case (false, _?): "Run `chown \(user) \(file) && chmod u+rx \(file)` as root."
        }
    }

    // MARK: - Its first line

    private func flaw(inContentOf path: String) -> Diagnostic? {
        func flaw(_ words: String, _ remedy: String) -> Diagnostic { Diagnostic(words, file: path, remedy: remedy) }
        // A program that may be executed but not read cannot be checked.
        guard let bytes = try? RegularFile.bytes(of: path, atMost: Self.firstBytes) else { return nil }
        if bytes.isEmpty { return flaw("this program is empty", "Begin it with a line such as #!/bin/sh.") }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            return flaw(
                "it begins with a byte order mark, so the system does not see its first line",
                "Save it as UTF-8 without a byte order mark.")
        }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            return flaw("it is saved as UTF-16, so the system cannot read its first line", "Save it as UTF-8.")
        }
        if bytes.starts(with: [0x7F] + "ELF".utf8) { return Self.flaw(ofELF: bytes, path) }
        guard bytes.starts(with: "#!".utf8) else {
            // binfmt_misc may support the format: a Java archive, a program of another system.
            let known =
                (try? Folder.names(in: "/proc/sys/fs/binfmt_misc"))?.filter { $0 != "register" && $0 != "status" } ?? []
            guard known.isEmpty else { return nil }
            return flaw(
                "it has no first line such as #!/bin/sh that names its interpreter, and it is no program of this system",
                "Begin it with #!/bin/sh, or write its interpreter: [/bin/sh, \(path)].")
        }
        let line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
        guard !line.contains(UInt8(ascii: "\r")) else {
            let file = FilePaths.inShell(path)
            return flaw(
                "its first line ends with CR LF, as Windows saves files, and the system takes the carriage return for a part of the interpreter's name",
                "Save it with line ends of LF: `sed -i 's/\\r$//' \(file)`.")
        }
        return self.flaw(ofFirstLine: String(decoding: line, as: UTF8.self), path)
    }

    /// More than the system reads of a first line (BINPRM_BUF_SIZE, 256), and the headers of a
    /// program.
    private static let firstBytes = 4_096

    /// - Parameter line: what follows `#!`. Source: execve(2), "Interpreter scripts".
    private func flaw(ofFirstLine line: String, _ path: String) -> Diagnostic? {
        func flaw(_ words: String, _ remedy: String) -> Diagnostic { Diagnostic(words, file: path, remedy: remedy) }
        let parts = line.split(maxSplits: 1) { $0 == " " || $0 == "\t" }.map(String.init)
        guard let interpreter = parts.first else {
            return flaw("its first line names no interpreter", "Begin it with a line such as #!/bin/sh.")
        }
        let shown = TextFormat.inLine(interpreter)
        if let why = Self.flaw(ofFile: interpreter) {
            return flaw(
                "its first line names the interpreter \(shown), which cannot be started: \(why.message)",
                "Install the interpreter, or correct the first line: `command -v \(interpreter.split(separator: "/").last ?? "")` shows where a program is."
            )
        }
        guard interpreter.hasSuffix("/env"), parts.count > 1 else { return nil }
        let rest = parts[1].trimmingBlanks
        // The system passes the rest as one argument.
        guard let name = rest.hasPrefix("-S") ? Self.program(of: String(rest.dropFirst(2))) : rest,
            !name.hasPrefix("-"),
            !name.contains("="),
            found(name) == nil, !name.contains("/") || Self.flaw(ofFile: name) != nil
        else { return nil }
        let words = name.split(separator: " ")
        guard words.count > 1, !rest.hasPrefix("-S"), found(String(words[0])) != nil else {
            return flaw(
                "its first line names the program \(TextFormat.inLine(name)), which is not in PATH",
                "Install it, or correct the first line; PATH is that of the process that starts the hook.")
        }
        return flaw(
            "env takes the rest of its first line, \(TextFormat.inLine(name)), for the name of one program",
            "Write #!\(interpreter) -S \(name).")
    }

    /// The program that `env -S` starts: the first word that is neither an option nor a variable.
    private static func program(of words: String) -> String? {
        words.split(separator: " ").map(String.init).first { !$0.hasPrefix("-") && !$0.contains("=") }
    }

    // MARK: - Compiled programs

    /// Another kind of processor, or a loader that is missing. Source: elf(5).
    private static func flaw(ofELF bytes: [UInt8], _ path: String) -> Diagnostic? {
        guard let own = try? RegularFile.bytes(of: "/proc/self/exe", atMost: 64), own.count > 20, bytes.count > 64
        else { return nil }
        // Class, order of bytes, machine. Emulators are registered with the system by them.
        guard bytes[4..<6] == own[4..<6], bytes[18..<20] == own[18..<20] else {
            let known =
                (try? Folder.names(in: "/proc/sys/fs/binfmt_misc"))?.filter { $0 != "register" && $0 != "status" } ?? []
            // A machine with 64 bits also runs programs of its kind with 32.
            guard known.isEmpty, bytes[5] != own[5] || bytes[4] == own[4] else { return nil }
            return Diagnostic(
                "it was made for another kind of processor than this machine's", file: path,
                remedy: "Install the program for this machine."
            )
        }
        guard bytes[4] == 2, bytes[5] == 1, let loader = loader(of: bytes), !FilePaths.exists(loader) else {
            return nil
        }
        return Diagnostic(
            "it needs the loader \(TextFormat.inLine(loader)), which this machine does not have", file: path,
            remedy: "Install the program for this system, or its C library.")
    }

    /// PT_INTERP of a program with 64 bits, little-endian; nil if it has none, or its headers are
    /// further behind.
    private static func loader(of bytes: [UInt8]) -> String? {
        func number(_ at: Int, _ count: Int) -> Int? {
            guard at >= 0, at + count <= bytes.count else { return nil }
            return bytes[at..<at + count].reversed().reduce(0) { ($0 & 0xFF_FFFF_FFFF_FFFF) << 8 | Int($1) }
        }
        guard let table = number(32, 6), let size = number(54, 2), let count = number(56, 2) else { return nil }
        for header in 0..<count {
            let at = table + header * size
            guard number(at, 4) == 3, let begin = number(at + 8, 6), let length = number(at + 32, 6),
                begin + length <= bytes.count
            else {
                continue
            }
            return String(decoding: bytes[begin..<begin + length].prefix { $0 != 0 }, as: UTF8.self)
        }
        return nil
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
