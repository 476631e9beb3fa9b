import Foundation

/// Texts that people read, as they were approved, in Tests/Snapshots.
public enum Snapshot {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Snapshots")

    /// Compares a text with Tests/Snapshots/NAME. A missing snapshot is recorded and reported, as a
    /// person must check it.
    /// - Returns: nil if they are the same.
    public static func flaw(of text: String, _ name: String) throws -> String? {
        let file = folder.appendingPathComponent(name)
        guard let expected = read(name) else {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
            return "\(file.path) was recorded; check it and run the tests again"
        }
        guard let changes = lineChanges(from: expected, to: text) else { return nil }
        return "differs from \(file.path):\n\(changes)"
    }

    /// nil if it was not recorded yet.
    public static func read(_ name: String) -> String? {
        try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    /// The lines of two texts that differ in a byte, `-` before those that are missing and `+`
    /// before new ones; nil if none does.
    static func lineChanges(from old: String, to new: String) -> String? {
        guard !new.utf8.elementsEqual(old.utf8) else { return nil }
        let oldLines = old.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let newLines = new.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let changes = newLines.difference(from: oldLines).map { change in
            switch change {
            case .remove(_, let line, _): "- " + String(decoding: line, as: UTF8.self)
            case .insert(_, let line, _): "+ " + String(decoding: line, as: UTF8.self)
            }
        }
        return changes.joined(separator: "\n")
    }
}
