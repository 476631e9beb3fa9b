import Base

/// The limit of threads that the process may start.
enum ThreadLimit {
    /// The threads that must be free. A run uses about ten: for readers, recorder, sender, notices, name resolution, SQLite and the
    /// simulator.
    private static let needed = 12

    /// Checks that enough threads are free by starting them: how many are left depends on other processes of the account, on memory and on
    /// the container. Otherwise the run would meet the limit midway.
    /// - Throws: a `Diagnostic` if too few are free.
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
