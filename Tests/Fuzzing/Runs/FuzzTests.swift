import Glibc
import Testing

/// A few hundred inputs for each target, the same every time. `make fuzz` continues from here, for
/// as long as you like.
@Suite struct FuzzTests {
    private static let mutations = 200
    /// An input takes milliseconds; a target that needs this long hangs.
    private static let secondsForAll: UInt32 = 300

    /// Each target runs in a separate process, so that the input of a crash or a hang is known,
    /// too.
    @Test("whatever comes in, what must hold holds", arguments: FuzzTarget.allCases)
    func holds(target: FuzzTarget) async {
        let path = "/tmp/volley-fuzz-\(getpid())-\(target.rawValue).txt"
        await #expect(processExitsWith: .success) { [target, path = path as String] in
            alarm(Self.secondsForAll)
            Self.run(target, Journal(path: path))
        }
        guard let (input, finding) = Journal(path: path).take() else { return }
        Issue.record(
            """
            \(target.rawValue): \(finding)
            To repeat it, keep the input: echo \(input) | xxd -r -p > Tests/Fuzzing/Corpus/\(target.rawValue)/NAME
            """)
    }

    @Test("every target has a corpus", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) {
        let inputs = Corpus.inputs(of: target)
        #expect((5...40).contains(inputs.count))
        for input in inputs { #expect((1..<8192).contains(input.bytes.count), "\(input.name)") }
    }

    private static func run(_ target: FuzzTarget, _ journal: Journal) {
        let corpus = Corpus.inputs(of: target).map(\.bytes)
        var mutator = Mutator(seed: 1, corpus: corpus)
        for input in corpus + (0..<mutations).map({ _ in mutator.next() }) {
            journal.begin(input)
            do throws(FuzzFinding) {
                try target.check(input)
            } catch {
                journal.note(error)
                exit(EXIT_FAILURE)
            }
        }
        journal.erase()
    }
}
