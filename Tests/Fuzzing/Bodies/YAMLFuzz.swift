import Base
import Content

@testable import Campaigns

/// Campaigns and volley.yaml: the result is a value, or mistakes that have messages and places
/// inside the file, and is always the same.
func fuzzYAML(_ bytes: [UInt8]) throws(FuzzFinding) {
    let source: YAMLSource
    do throws(Diagnostic) {
        source = try YAMLSource(file: "c.yaml", bytes: bytes)
    } catch { return try requireSense([error], bytes) }
    let now = Timestamp(epochSeconds: 1_795_219_200)

    let draft = Campaign.draft(source, now: now)
    try requireSense(draft.findings, bytes)
    try require((draft.campaign == nil) == draft.findings.contains { $0.severity == .error }, "\(draft.findings)")
    try require(Campaign.draft(source, now: now).findings == draft.findings, "read again it has other mistakes")
    if let content = draft.content {
        try requireSense(findings { () throws(Diagnostics) in try PayloadTemplate(content).warnings }, bytes)
    }
    try requireSense(findings { () throws(Diagnostics) in try Project.read(source).1 }, bytes)
}

/// Warnings, or the mistakes that were thrown.
private func findings(_ read: () throws(Diagnostics) -> [Diagnostic]) -> [Diagnostic] {
    do throws(Diagnostics) { return try read() } catch { return error.all }
}

/// Refuses mistakes without a message, or with a place that the file does not have.
private func requireSense(_ mistakes: [Diagnostic], _ bytes: [UInt8]) throws(FuzzFinding) {
    let lines = bytes.count { $0 == 0x0A || $0 == 0x0D } + 1
    for mistake in mistakes {
        try require(!mistake.message.isEmpty, "a mistake says nothing")
        guard let place = mistake.position else { continue }
        try require(
            place.file == "c.yaml" && (1...lines).contains(place.line) && place.column >= 1, "no such place: \(mistake)"
        )
    }
}
