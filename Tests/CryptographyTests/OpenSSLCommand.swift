import Glibc

/// A separate folder for each test, removed with its contents.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/volley-cryptography-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            guard let made = buffer.baseAddress.flatMap({ mkdtemp($0) }) else { return "" }
            return String(cString: made)
        }
        precondition(!path.isEmpty, "no temporary folder")
    }

    deinit { _ = system("rm -rf '\(path)'") }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file and returns its path.
    func write(_ name: String, _ bytes: [UInt8]) -> String {
        let path = file(name)
        let stream = fopen(path, "w")
        precondition(stream != nil && fwrite(bytes, 1, bytes.count, stream) == bytes.count && fclose(stream) == 0)
        return path
    }

    func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }

    func read(_ name: String) -> String {
        guard let stream = fopen(file(name), "r") else { return "" }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Runs a command of `openssl` (or a pipe of several) inside the folder; true if it succeeds.
    @discardableResult
    func run(_ command: String) -> Bool { system("cd '\(path)' && { \(command) ; } >log 2>&1") == 0 }

    /// A key in PKCS #8 on the named curve.
    func makeKey(_ name: String, curve: String = "prime256v1") -> String {
        precondition(
            run("openssl ecparam -name \(curve) -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out \(name)"),
            read("log"))
        return file(name)
    }
}
