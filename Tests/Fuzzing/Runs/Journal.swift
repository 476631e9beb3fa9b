import Glibc

/// A file that names the input a process is at, for those who outlive the process.
struct Journal {
    let path: String

    /// Another input's turn.
    func begin(_ input: [UInt8]) { write(input.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n", mode: "w") }

    /// What the input led to.
    func note(_ finding: FuzzFinding) { write("\(finding)", mode: "a") }

    /// Nothing was found.
    func erase() { unlink(path) }

    /// The last input as hex digits, and what it led to; nil when nothing was found.
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
