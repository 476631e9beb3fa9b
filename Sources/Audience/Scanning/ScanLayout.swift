import Base

/// What a scan asks of its blocks besides the devices; the further it is, the less.
struct ScanWants {
    /// Texts of recipients.
    var records: Bool
}

/// What all threads of a scan share.
struct ScanLayout: Sendable {
    let query: AudienceQuery
    let files: [ExportFile]
    let selectors: CompiledSelectors
    let excluded: ExcludedDevices
    let hash: KeyedHash
    let limits: ReadingLimits
    let makeChecker: @Sendable () -> RecipientChecker
}
