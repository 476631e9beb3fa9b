import Base
import TestSupport

@testable import Audience

/// Compressed exports: either the input is the compressed file itself, or it is wrapped, and must
/// read like the file without wrapping.
func fuzzGzip(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let input = ScanInput(bytes) else { return }
    guard input.usesSecondFormat else {
        let file = ScratchFile(input.content, suffix: ".csv.gz")
        _ = try scanEveryWay(input, file.path)
        return
    }
    let members = StoredGzip.wrap(input.content, memberSize: input.chunkSizes[1])
    let packed = try withScan(members, ".csv.gz", input), plain = try withScan(input.content, ".csv", input)
    // A message about a refused file contains its name.
    try require((packed.result == nil) == (plain.result == nil), "'\(packed.refusal)' and '\(plain.refusal)'")
    try require(packed.result?.digest == plain.result?.digest, "compressed it has another digest")
    try require(
        packed.result?.skipped == plain.result?.skipped,
        "\(packed.result?.skipped ?? [:]), not \(plain.result?.skipped ?? [:])")
    try require(packed.recipients == plain.recipients, "\(packed.recipients) instead of \(plain.recipients)")
}

private func withScan(_ bytes: [UInt8], _ suffix: String, _ input: ScanInput) throws(FuzzFinding) -> ScanOutcome {
    let file = ScratchFile(bytes, suffix: suffix)
    return try scanEveryWay(input, file.path)
}
