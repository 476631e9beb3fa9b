import Base
import Foundation
import TestCommands
import Testing

/// An export that another program writes while Volley reads it, with the real binary, which is
/// stopped in the middle of the file.
@Suite("An export that is changed while it is read")
struct ChangedExportTests {
    private static let devices = FaultScale.isThorough ? 1_500_000 : 150_000

    /// Stops a process in the middle of a file.
    private func stop(_ running: RunningVolley, in file: URL) throws {
        let folder = "/proc/\(running.processID)/fd"
        for _ in 0..<600_000 where running.isRunning {
            for number in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")) == file.path {
                let info =
                    (try? String(contentsOfFile: "/proc/\(running.processID)/fdinfo/\(number)", encoding: .utf8)) ?? ""
                let position = info.split(separator: "\n").first?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
                guard position > 1 << 20 else { continue }
                kill(running.processID, SIGSTOP)
                return
            }
            usleep(100)
        }
        Issue.record("it was never seen to read: \(running.errorsSoFar)")
    }

    private func plan(
        _ folder: ProjectFolder, command: [String] = ["plan", "campaign.yaml"], _ change: (URL) throws -> Void
    ) throws
        -> VolleyBinary.Result
    {
        let export = folder.url.resolvingSymlinksInPath().appendingPathComponent("devices.csv")
        let running = try VolleyBinary.start(command, in: folder.url)
        try stop(running, in: export)
        try change(export)
        kill(running.processID, SIGCONT)
        return running.finish()
    }

    private func folder() throws -> ProjectFolder {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: Self.devices))
        try folder.writeCampaign()
        return folder
    }

    @Test("is refused when it grew, and nothing is planned")
    func grown() throws {
        let folder = try folder()
        let result = try plan(folder) { export in
            let handle = try FileHandle(forWritingTo: export)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("\(ProjectFolder.token(9_999_999)),r,u,news,en,2026-11-01,Ada\n".utf8))
            try handle.close()
        }
        #expect(result.status == 2 && result.errors.contains("grew from"), "\(result)")
        #expect(result.errors.contains("devices.csv: the file grew"), "\(result.errors)")
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test("is refused when it shrank, or another took its place; also by send, and by a preview")
    func shrunkOrReplaced() throws {
        let folder = try folder()
        let shrunk = try plan(folder, command: ["send", "campaign.yaml", "--yes"]) { export in
            try FileHandle(forWritingTo: export).truncate(atOffset: 2 << 20)
        }
        #expect(shrunk.status == 2 && shrunk.errors.contains("the file shrank from"), "\(shrunk)")
        #expect(folder.files(in: "runs").isEmpty)
        try folder.write("devices.csv", ProjectFolder.export(devices: Self.devices))
        let replaced = try plan(folder, command: ["preview", "campaign.yaml"]) { export in
            try folder.write("new.csv", ProjectFolder.export(devices: 10))
            try #require(rename(folder.url.appendingPathComponent("new.csv").path, export.path) == 0)
        }
        #expect(
            replaced.status == 2 && replaced.errors.contains("was replaced by another file while it was read"),
            "\(replaced)")
        #expect(replaced.output.isEmpty)
    }
}
