import Base

/// How many threads the process may start.
enum ThreadLimit {
    /// A run takes some ten: readers, recorder, sender, notices, the look-up of a name, SQLite's, the simulator's.
    private static let needed = 12

    /// Checks that there are enough, by starting them: what is left depends on other processes of the account, on memory and on the container.
    /// Later it would be met in the middle of a run.
    /// - Throws: a `Diagnostic` when there are too few.
    static func ensure() throws(Diagnostic) {
        let gate = BoundedQueue<Never>(capacity: 1)
        var threads: [WorkerThread<Void>] = []
        defer {
            gate.close()
            for thread in threads { thread.join() }
        }
        while threads.count < needed {
            do throws(Diagnostic) { threads.append(try WorkerThread("check") { _ = gate.take() }) } catch {
                var mistake = error
                mistake.message =
                    "this process may start at most \(threads.count) \(TextFormat.plural(threads.count, one: "thread")), but needs \(needed)"
                throw mistake
            }
        }
    }
}
