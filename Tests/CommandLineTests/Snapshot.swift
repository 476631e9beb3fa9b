import Foundation
import Testing

/// Compares with Tests/Snapshots/NAME. A missing snapshot is recorded and fails: a person must look at it.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = snapshotFile(name)
    guard let expected = readSnapshot(name) else {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
        Issue.record("\(file.path) was recorded; check it and run the tests again", sourceLocation: sourceLocation)
        return
    }
    #expect(text == expected, "differs from \(file.path)", sourceLocation: sourceLocation)
}

/// nil if it was not recorded yet.
func readSnapshot(_ name: String) -> String? { try? String(contentsOf: snapshotFile(name), encoding: .utf8) }

private func snapshotFile(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Snapshots/\(name)")
}
