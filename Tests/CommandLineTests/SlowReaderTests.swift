import Base
import Foundation
import TestCommands
import Testing

@Suite("Readers that are slower than Volley", .enabled(if: hasPython))
struct SlowReaderTests {
    /// Starts the rest of the line with both streams as small non-blocking pipes, reads them
    /// slowly, and prints the results: bytes of standard output and of standard error, and the exit
    /// code.
    private static let slowly = [
        "python3", "-c",
        """
        import fcntl, os, select, subprocess, sys, time
        ends = [os.pipe(), os.pipe()]
        for read, write in ends:
            fcntl.fcntl(write, 1031, 4096)
            os.set_blocking(write, False)
        child = subprocess.Popen(sys.argv[1:], stdout=ends[0][1], stderr=ends[1][1])
        for read, write in ends: os.close(write)
        time.sleep(0.3)
        texts = {ends[0][0]: b"", ends[1][0]: b""}
        open_ends = list(texts)
        while open_ends:
            for end in select.select(open_ends, [], [])[0]:
                piece = os.read(end, 3000)
                texts[end] += piece
                if not piece: open_ends.remove(end)
            time.sleep(0.001)
        sys.stdout.buffer.write(texts[ends[0][0]])
        sys.stderr.buffer.write(texts[ends[1][0]])
        sys.exit(child.wait())
        """,
    ]

    private func read(_ folder: ProjectFolder, _ arguments: String...) throws -> VolleyBinary.Result {
        try VolleyBinary.start(arguments, in: folder.url, launcher: Self.slowly).finish()
    }

    @Test("a pipe that does not block gets every line of a CSV, and the whole of a page")
    func results() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 3_000))
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        for format in ["csv", "html"] {
            let whole = try folder.volley("report", "last", "--format", format, "--output", "whole")
            #expect(whole.status == 0, "\(whole.errors)")
            let slow = try read(folder, "report", "last", "--format", format)
            #expect(slow.status == 0 && slow.errors.isEmpty, "\(slow.errors)")
            let expected = try String(contentsOf: folder.url.appendingPathComponent("whole"), encoding: .utf8)
            #expect(slow.output.utf8.count == expected.utf8.count && (format == "html" || slow.output == expected))
        }
    }

    @Test("nothing of what is said on standard error is lost either, and help is whole")
    func messages() throws {
        let folder = try ProjectFolder()
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", "notices: [{command: [/usr/bin/seq, '1', '4000']}]\n" + project)
        let told = try read(folder, "notify")
        #expect(told.status == 0, "\(told)")
        #expect(told.errors.split(separator: "\n") == (1...4000).map { "/usr/bin/seq: \($0)" })
        let script = try folder.volley("--generate-completion-script", "bash")
        #expect(script.status == 0 && script.output.utf8.count > 10_000)
        #expect(try read(folder, "--generate-completion-script", "bash").output == script.output)
    }
}
