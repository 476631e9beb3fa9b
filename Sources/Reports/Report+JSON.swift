public import Base
import Runs

extension Report {
    /// The document of `report --format json`. What is not there yet is null; `rate` and `latency_ms` always have their members.
    /// `stopped_because` is there only when the run stopped early, `approved_by` and `approved_at` when somebody approved it, `test` (true) and `test_pushes` when it is a test; a run of a chain has `retry_of` (null for the first) and `chain`, all its
    /// runs in order.
    public var json: JSONValue {
        // Only where there is something to say: the document of a run that went well has the members it always had.
        let reason = status.reason.isEmpty ? [] : [("stopped_because", JSONValue.string(status.reason))]
        let head: [(String, JSONValue)] = [
            ("run", .string(plan.id)), ("campaign", .string(plan.campaign)), ("app", .string(plan.app)),
            ("state", .string(status.state.rawValue)),
        ]
        let test = plan.isTest ? [("test", JSONValue.bool(true)), ("test_pushes", .array(testPushes.map(\.json)))] : []
        return .object(pairs: head + test + reason + approvalMembers + figuresInJSON + chainMembers)
    }

    private var approvalMembers: [(String, JSONValue)] {
        approval.map { [("approved_by", .string($0.name)), ("approved_at", moment($0.approvedAt))] } ?? []
    }

    private var chainMembers: [(String, JSONValue)] {
        guard !chain.isEmpty else { return [] }
        let links = chain.map { link in
            JSONValue.object(pairs: [("run", .string(link.id)), ("audience", number(link.audience)), ("accepted", number(link.accepted))])
        }
        return [("retry_of", plan.retryOf.map { .string($0) } ?? .null), ("chain", .array(links))]
    }

    private var figuresInJSON: [(String, JSONValue)] {
        [
            ("audience", number(plan.audience)),
            ("skipped", .object(pairs: skipped.map { ($0.name, number($0.rows)) })),
            ("outcomes", .object(pairs: Outcome.allCases.map { ($0.name, number(count($0))) })),
            ("reasons", .object(pairs: reasons.map { ($0.name, number($0.recipients)) })),
            ("attempts", number(figures.attempts)),
            ("started_at", moment(status.startedAt)),
            ("finished_at", moment(status.finishedAt)),
            ("rate", .object(pairs: [("mean_per_second", number(meanPerSecond)), ("peak_per_second", number(peakPerSecond))])),
            (
                "latency_ms",
                .object(pairs: [
                    ("p50", number(figures.latency?.p50)), ("p90", number(figures.latency?.p90)),
                    ("p99", number(figures.latency?.p99)), ("max", number(figures.latency?.max)),
                ])
            ),
        ]
    }

    private func number(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }

    private func moment(_ value: Timestamp?) -> JSONValue { value.map { .string($0.description) } ?? .null }
}
