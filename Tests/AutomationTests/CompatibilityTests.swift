import Base
import Campaigns
import Runs
import Testing

/// docs/compatibility.md promises that these words stay. A new one may be added here; none may be
/// removed, or change its meaning.
@Suite("words that scripts rely on")
struct CompatibilityTests {
    @Test("states of runs, of times and of orders") func states() {
        #expect(
            RunState.allCases.map(\.rawValue) == ["planned", "running", "paused", "stopped", "finished", "cancelled"])
        #expect(
            ScheduledRun.State.allCases.map(\.rawValue) == [
                "planning", "waiting", "sending", "finished", "stopped", "cancelled", "skipped",
            ])
        let orders: [OrderState] = [
            .waiting, .taken(epoch: ""), .done(.init(run: nil)), .refused(.planDiffers), .lapsed, .left(.nothing),
        ]
        #expect(orders.map(\.name) == ["waiting", "taken", "done", "refused", "lapsed", "left"])
    }

    @Test("events of notices") func events() {
        let words = NoticeEvent.allCases.map(\.rawValue)
        #expect(
            Set(words).isSuperset(of: [
                "started", "finished", "stopped", "approval_needed", "skipped", "failed", "invalid",
            ]))
    }

    @Test("problems of times, as the record of a schedule keeps them") func problems() {
        let known = [
            "sent_under_another_name", "unapproved", "approved_too_late", "planned_too_late", "planning_ended",
            "campaign_changed",
            "campaign_broken", "begun_too_late", "run_gone", "sent_by_hand", "restored",
        ]
        for name in known {
            let json = JSONValue.object(pairs: [("problem", .string(name))])
            #expect(ScheduleProblem(json: json)?.json == json, "\(name)")
        }
    }
}
