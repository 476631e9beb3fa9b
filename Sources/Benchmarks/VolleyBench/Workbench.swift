import Base
import Glibc

/// The resources of a benchmark: two cores, and one temporary folder that is removed at the end.
final class Workbench {
    /// The temporary folder, below TMPDIR or /tmp.
    let folder: String
    /// The folder of `volley` and `volley-bench`.
    let binaries: String
    /// The sender's core and the server's: the first two that this process may use.
    let clientCore: String
    let serverCore: String

    init() throws {
        let cores = Self.coresAllowed()
        guard cores.count >= 2 else {
            throw Diagnostic(
                "this needs two cores, one for the sender and one for the server; \(cores.count) may be used")
        }
        clientCore = String(cores[0])
        serverCore = String(cores[1])
        guard let own = realpath("/proc/self/exe", nil) else {
            throw Diagnostic("the benchmark cannot find its own executable")
        }
        defer { free(own) }
        binaries = String(
            String(cString: own).split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
                separator: "/"))
        let parent = EnvironmentVariables["TMPDIR"] ?? "/tmp"
        var path = Array("\(parent)/volley-bench-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else {
            throw Diagnostic("no temporary folder: \(String(cString: strerror(errno)))", file: parent)
        }
        folder = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder.
    func clear() { Self.remove(folder) }

    /// Makes a new folder below /tmp.
    static func temporaryFolder() throws -> String {
        var path = Array("/tmp/volley-bench-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else {
            throw Diagnostic("no temporary folder: \(String(cString: strerror(errno)))")
        }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a folder with all its contents. It does not use a `ChildProcess`, for which an
    /// interrupted benchmark would not wait.
    static func remove(_ folder: String) {
        let arguments = ["rm", "-rf", "--", folder]
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid = pid_t()
        guard posix_spawnp(&pid, "rm", nil, nil, &words, environ) == 0 else { return }
        while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    }

    /// Makes a folder in the temporary folder.
    func makeFolder(_ name: String) throws -> String {
        guard mkdir("\(folder)/\(name)", 0o700) == 0 || errno == EEXIST else {
            throw Diagnostic("no folder: \(String(cString: strerror(errno)))", file: "\(folder)/\(name)")
        }
        return "\(folder)/\(name)"
    }

    /// Makes another new folder in the temporary folder.
    /// - Parameter name: how its name begins.
    func makeNewFolder(_ name: String) throws -> String {
        var number = 1
        while access("\(folder)/\(name)-\(number)", F_OK) == 0 { number += 1 }
        return try makeFolder("\(name)-\(number)")
    }

    /// The bytes that may still be written below the folder.
    var freeBytes: Int {
        var figures = statvfs()
        return statvfs(folder, &figures) == 0 ? Int(figures.f_bavail) * Int(figures.f_frsize) : 0
    }

    /// Runs one of our programs to its end, and throws unless it succeeds.
    @discardableResult
    func run(_ arguments: [String], in folder: String? = nil, cores: String? = nil, limitSeconds: Double = 300) throws
        -> ChildProcess.Result
    {
        let result = try ChildProcess(
            cores: cores ?? clientCore, arguments, folder: folder ?? self.folder, limitSeconds: limitSeconds
        ).wait()
        guard result.status == 0 else {
            throw Diagnostic(
                "\(arguments.prefix(3).joined(separator: " ")) ended with \(result.status): \(result.output.prefix(500))"
            )
        }
        return result
    }

    /// The text of a small file, such as those of /proc; nil if it cannot be read.
    static func text(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// Writes a file piece by piece, so that its size does not matter.
    static func write(_ file: String, _ body: ((String) -> Void) throws -> Void) throws {
        guard let stream = fopen(file, "w") else {
            throw Diagnostic("cannot be written: \(String(cString: strerror(errno)))", file: file)
        }
        do {
            try body { fputs($0, stream) }
        } catch {
            fclose(stream)
            throw error
        }
        let hasFailed = ferror(stream) != 0
        guard fclose(stream) == 0, !hasFailed else {
            throw Diagnostic("cannot be written: is the disk full?", file: file)
        }
    }

    /// Returns the cores in a line like `Cpus_allowed_list: 0-1,4`.
    private static func coresAllowed() -> [Int] {
        guard let stream = fopen("/proc/self/status", "r") else { return [] }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), stream) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("Cpus_allowed_list:") else { continue }
            return text.dropFirst(18).split { ",\t\n ".contains($0) }.flatMap { part -> [Int] in
                let ends = part.split(separator: "-").compactMap { Int($0) }
                guard let first = ends.first, let last = ends.last, first <= last else { return [] }
                return Array(first...last)
            }
        }
        return []
    }
}
