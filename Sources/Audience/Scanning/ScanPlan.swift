import Base

/// What a scan asks of its blocks beside the devices; the less, the further it is.
struct ScanWants {
    /// Texts of recipients.
    var records: Bool
}

/// What all threads of a scan share.
struct ScanPlan: Sendable {
    let query: AudienceQuery
    let files: [ExportFile]
    let selectors: CompiledSelectors
    let excluded: ExcludedDevices
    let hash: KeyedHash
    let limits: ReadingLimits
    let makeChecker: @Sendable () -> RecipientChecker
}
