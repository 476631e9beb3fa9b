import Base

/// What all threads of a scan share.
struct ScanPlan: Sendable {
    let query: AudienceQuery
    let files: [ExportFile]
    let selectors: CompiledSelectors
    let excluded: ExcludedDevices
    let hash: KeyedHash
    let limits: ReadingLimits
    let makeJudge: @Sendable () -> RecipientJudge
}
