import Postgres

extension Store {
    /// Runs of some apps that are being sent, or are paused, the oldest first, by their ids.
    /// - Throws: `Diagnostic`: the store cannot be asked.
    package func runsToSend(ofApps apps: [String]) throws -> [String] {
        var runs: [String] = []
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    "SELECT id, app FROM volley_run WHERE is_published AND state IN ('running', 'paused') ORDER BY number", within: 30
                ) { cells in if apps.contains(cells.text(1)) { runs.append(cells.text(0)) } }
            }
        }
        return runs
    }

    /// Whether it has a run, published or not.
    package func holds(_ id: String) throws -> Bool {
        try StoreError.explaining { try looking.patiently { try Self.find(id, $0) != nil } }
    }
}
