import Glibc

/// The inputs in the repository: seeds, and earlier findings.
enum Corpus {
    private static let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Corpus"

    /// All inputs of a target, in the order of their names.
    static func inputs(of target: FuzzTarget) -> [(name: String, bytes: [UInt8])] {
        names(in: "\(folder)/\(target.rawValue)").map { ($0, bytes(of: "\(folder)/\(target.rawValue)/\($0)")) }
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func bytes(of path: String) -> [UInt8] {
        guard let stream = fopen(path, "rb") else { return [] }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, stream))
        return bytes
    }
}
