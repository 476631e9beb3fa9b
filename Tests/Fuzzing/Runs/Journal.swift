import Glibc

/// A file that names the input that a process is working on, for readers that outlive the process.
struct Journal {
    let path: String

    /// Begins another input.
    func begin(_ input: [UInt8]) {
        write(input.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n", mode: "w")
    }

    /// Notes the finding for the input.
    func note(_ finding: FuzzFinding) { write("\(finding)", mode: "a") }

    /// Notes that nothing was found.
    func erase() { unlink(path) }

    /// The last input as hex digits, and its finding; nil if nothing was found.
    func take() -> (input: String, finding: String)? {
        guard let stream = fopen(path, "rb") else { return nil }
        defer { erase() }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, stream))
        fclose(stream)
        let text = String(decoding: bytes, as: UTF8.self)
        let input = text.prefix { $0 != "\n" }
        let finding = text.dropFirst(input.count + 1)
        return (String(input), finding.isEmpty ? "a crash or a hang" : String(finding.prefix(4000)))
    }

    private func write(_ text: String, mode: String) {
        guard let stream = fopen(path, mode) else { return }
        fputs(text, stream)
        fclose(stream)
    }
}
