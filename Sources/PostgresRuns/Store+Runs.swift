package import Base
import Postgres
package import Runs

extension Store {
    /// Runs of some apps that are being sent, or are paused, the oldest first, by their ids. To be called again and
    /// again, also while the store is away.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func runsToSend(ofApps apps: [String]) throws -> [String] {
        var runs: [String] = []
        try StoreError.explaining {
            try looking.once(isRepeated: true) { connection in
                try connection.run(
                    "SELECT id, app FROM volley_run WHERE is_published AND state IN ('running', 'paused') ORDER BY number",
                    within: looking.answerSeconds
                ) { cells in if apps.contains(cells.text(1)) { runs.append(cells.text(0)) } }
            }
        }
        return runs
    }

    /// Gives an order to the workers that send a run, from a machine that need not have its file.
    /// - Parameter now: of the store's clock.
    /// - Returns: false if the store has no such run.
    /// - Throws: `Diagnostic`: no process sends it, or its state does not allow the order; the store cannot be queried.
    package func give(_ order: RunOrder, toRun id: String, in catalog: RunsFolder, at now: Timestamp) throws -> Bool {
        let isThere = try StoreError.explaining { try looking.once { try Self.find(id, $0)?.isPublished ?? false } }
        guard isThere else { return false }
        try open(id, in: catalog).append(.ordered(order, at: now))
        return true
    }

    /// Whether workers send a run, or have paused it.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func isBeingSent(_ id: String) throws -> Bool {
        var isBeingSent = false
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    """
                    SELECT 1 FROM volley_run r WHERE r.id = $1 AND r.state IN ('running', 'paused')
                        AND EXISTS (SELECT 1 FROM volley_sender s WHERE s.run = r.number AND s.dead_at IS NULL)
                    """, [.text(id)], within: looking.answerSeconds
                ) { _ in isBeingSent = true }
            }
        }
        return isBeingSent
    }

    /// The database's clock minus this machine's, in seconds.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func clockOffsetSeconds() throws -> Double {
        var milliseconds = 0
        let before = Timestamp.now()
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", within: looking.answerSeconds
                ) { milliseconds = $0.int(0) }
            }
        }
        let middle = (before.epochMilliseconds + Timestamp.now().epochMilliseconds) / 2
        return Double(Int64(milliseconds) - middle) / 1000
    }

    /// Whether it has a run, published or not.
    package func holds(_ id: String) throws -> Bool {
        try StoreError.explaining { try looking.retrying { try Self.find(id, $0) != nil } }
    }
}
