import Base
import Foundation
import TestCommands
import Testing

/// What happens to a plan during the question, and what the command then says about it.
@Suite("the gate before sending: while a person is asked", .enabled(if: hasPython))
struct GatePromptTests: GateTesting {
    /// Runs a command at a terminal, does something at its question, and answers.
    private func answer(
        _ answer: String, _ arguments: [String], in folder: ProjectFolder, meanwhile: String
    ) throws -> VolleyBinary.Result {
        let program = """
            import os, pty, subprocess, sys
            volley, answer, meanwhile = sys.argv[1:4]
            pid, terminal = pty.fork()
            if pid == 0: os.execv(volley, [volley] + sys.argv[4:])
            def read(end):
                text = b""
                while end not in text:
                    try: part = os.read(terminal, 65536)
                    except OSError: break
                    if not part: break
                    text += part
                return text
            read(b"[y/N]")
            subprocess.run(meanwhile, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os.write(terminal, (answer if answer == "\\x03" else answer + "\\n").encode())
            print(read(b"\\0").decode())
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        let commands = "volley() { '\(VolleyBinary.path)' \"$@\"; }; \(meanwhile)"
        return try RunningVolley(
            executable: "/usr/bin/python3", ["-c", program, VolleyBinary.path, answer, commands] + arguments,
            in: folder.url,
            environment: ["NO_COLOR": "1"], input: nil
        ).finish()
    }

    private func states(_ folder: ProjectFolder) throws -> [String] {
        guard case .array(let runs)? = try folder.volley("runs", "--json").json()["runs"] else { return [] }
        return runs.compactMap { $0["state"]?.stringValue }
    }

    @Test("a plan for which an approval is demanded meanwhile is kept for those who approve it, as is said")
    func approvalMeanwhile() throws {
        let folder = try folder()
        let result = try answer(
            "y", ["send", "campaign.yaml"], in: folder, meanwhile: "echo '    approval: required' >> volley.yaml")
        #expect(result.status == 2 && result.output.contains("it is kept"), "\(result.output)")
        let run = try #require(runs(folder).first, "\(result.output)")
        #expect(result.output.contains("volley approve \(run)"), "\(result.output)")
        #expect(try folder.volley("approve", run, "--by", "Anna", "--yes").status == 0)
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
    }

    @Test(
        "no points to no file that is gone: a plan that was cancelled in the meantime stays, and is not called sent",
        arguments: ["y", "n"])
    func cancelledMeanwhile(word: String) throws {
        for command in [["send", "campaign.yaml"], ["send", "--plan", "last"]] {
            let folder = try folder()
            if command.count > 2 { _ = try plan(folder) }
            let result = try answer(word, command, in: folder, meanwhile: "volley cancel last")
            let words = word == "y" ? "cancelled before any of it was sent" : "the plan was cancelled in the meantime"
            #expect(
                result.status == 2 && result.output.contains(words) && !result.output.contains("volley report"),
                "\(result.output)")
            #expect(try states(folder) == ["cancelled"])
        }
    }

    @Test("who says no is not told that nothing was sent when another command has sent it meanwhile")
    func sentMeanwhile() throws {
        for command in [["send", "campaign.yaml"], ["send", "--plan", "last"]] {
            let folder = try folder()
            if command.count > 2 { _ = try plan(folder) }
            let result = try answer("n", command, in: folder, meanwhile: "volley send --plan last --yes --quiet")
            #expect(result.status == 2 && result.output.contains("another one has begun to send"), "\(result.output)")
            #expect(
                !result.output.contains("plan is")
                    && result.output.contains("volley report \(runs(folder).first ?? "-")"))
            #expect(try states(folder) == ["finished"])
        }
    }

    @Test("who says no, or interrupts, leaves nothing of a plan that nobody asked for", arguments: ["n", "\u{3}"])
    func refused(word: String) throws {
        let folder = try folder()
        let result = try answer(word, ["send", "campaign.yaml"], in: folder, meanwhile: "true")
        #expect(result.status == (word == "n" ? 2 : 130), "\(result.output)")
        #expect(runs(folder).isEmpty)
    }
}
