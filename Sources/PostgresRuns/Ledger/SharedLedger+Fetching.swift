extension SharedLedger {
    /// Takes over into the run's own file what members have recorded.
    package func fetch() throws { try refresh() }
}
