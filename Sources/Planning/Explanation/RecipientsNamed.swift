import Audience
public import Base
public import PushServices
public import Runs

/// A recipient of a run, with its result there.
public struct RecipientResult: Sendable {
    /// Its target by its first and last four characters.
    public let target: String
    /// Blank if the export had none.
    public let alias: String
    /// Blank if the campaign has none.
    public let variant: String
    /// What became of its push.
    public let outcome: Outcome
    /// The service's reason, or Volley's; blank for none.
    public let reason: String
    /// The service that took its push, or would have.
    public let service: any PushService
    /// nil if no outcome is recorded.
    public let settledAt: Timestamp?
}

/// Looks for a device among the recipients of a run, in time that grows with their number.
/// - Parameter who: a target, whole or as `7276…89f1`, an alias, or a registration id.
/// - Returns: the text as it may be shown, and the first recipients that have it, at most 20.
/// - Throws: `Diagnostic`: nothing was named, or the run's file is damaged or has no recipients any
///   more.
public func recipients(named who: String, in run: RunFile) throws -> (who: String, found: [RecipientResult]) {
    let most = 20, services = run.plan.services
    let subject = try TraceSubject(who, services.map(\.target))
    var found: [RecipientResult] = []
    try run.forEachStoredResult { result in
        guard found.count < most,
            subject.names(result.alias) || subject.names(result.registrationID)
                || subject.names(token: Array(result.token))
        else { return }
        func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        found.append(
            RecipientResult(
                target: Target(normalized: text(result.token)).redacted,
                alias: SecretText.withoutTokens(text(result.alias)),
                variant: text(result.variant), outcome: result.outcome, reason: result.reason,
                service: services[result.service], settledAt: result.settledAt))
    }
    return (subject.shown, found)
}
