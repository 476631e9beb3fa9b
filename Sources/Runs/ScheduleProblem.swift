public import Base

/// Why a time of a schedule waits, was given up, or did not reach every device. What it means in
/// words is written where it is shown.
public indirect enum ScheduleProblem: Hashable, Sendable {
    /// It was noticed this number of seconds after its time, which is later than `late` allows.
    case noticedLate(seconds: Int)
    /// The campaign's file had mistakes until this number of seconds after its time, which is later
    /// than `late` allows.
    case brokenTooLong(seconds: Int)
    /// The campaign's file was sent or skipped at this time already, under another name.
    case sentUnderAnotherName
    /// The next time of the campaign, given here, had also come.
    case nextHadCome(String)
    /// The next time of the campaign, which is named, has come while this one waited.
    case superseded(by: String, ScheduleProblem?)
    /// The same problem, which this number of earlier times also had.
    case andBefore(times: Int, ScheduleProblem)
    /// A person approved it beforehand, and that does not hold for its plan.
    case approvalVoid(by: String, AdvanceApproval.Flaw)
    /// No approval of its plan had come.
    case unapproved
    /// No approval of its plan came in time.
    case approvedTooLate
    case plannedTooLate
    /// The process that planned it was ended, and there was no other in time.
    case planningEnded
    /// The campaign's file was changed just before it was planned, and says another time or name.
    case campaignChanged
    /// The time zone database was updated after the time had come, and by the new rules it is still
    /// to come.
    case zoneChanged
    /// The campaign's file has mistakes, or cannot be read.
    case campaignBroken
    /// A file that it is planned from was changed less than this number of seconds ago, and may
    /// still be incomplete.
    case fileChanging(String, seconds: Int)
    /// It could not be begun in time.
    case begunTooLate
    /// The file of its run is gone.
    case runGone
    /// Its run stopped, or was cancelled.
    case stopped(StopCause)
    /// Its run got to its end, and devices were never sent to.
    case missed(MissedPushes)
    /// Its run got to its end, and more than a fifth of its pushes failed, were rejected or got no
    /// answer: how many, and of these, how many got none.
    case notAccepted(Int, unanswered: Int, audience: Int)
    /// A person sent it at a terminal.
    case sentByHand
    /// A person left it out before it came, in the console; with the name.
    case leftOut(by: String)
    /// The `volley schedule` of another machine has it, or a person there: the machine's name and
    /// its run; the run is blank if it was left out there.
    case elsewhere(machine: String, run: String)
    /// The runs were put back from a backup after its time, or while it was open: it may have been
    /// sent.
    case restored
    /// In words: what an error says, and what an older version recorded.
    case described(String)
}

extension ScheduleProblem {
    /// Whether a time waits although a person approved it beforehand.
    public var isAboutApproval: Bool { if case .approvalVoid = self { true } else { false } }

    /// Whether another machine has the time.
    public var isElsewhere: Bool { if case .elsewhere = self { true } else { false } }
}

/// Of a run that got to its end, how many of its pushes were never sent, and why.
public struct MissedPushes: Hashable, Sendable {
    /// How many; at least 1.
    public var count: Int
    /// Out of this number.
    public var audience: Int
    /// Those of them whose push had expired, and for whose wave it was too late.
    public var expired: Int, tooLate: Int

    /// Pushes that were missed.
    public init(count: Int, audience: Int, expired: Int, tooLate: Int) {
        self.count = count
        self.audience = audience
        self.expired = expired
        self.tooLate = tooLate
    }
}

/// As the record of a schedule keeps them: an object with `problem`, and its values by their names.
extension ScheduleProblem {
    /// `{"problem": "noticed_late", "seconds": 7200}`
    public var json: JSONValue {
        switch self {
        case .noticedLate(let seconds): object("noticed_late", ("seconds", .integer(Int64(seconds))))
        case .brokenTooLong(let seconds): object("broken_too_long", ("seconds", .integer(Int64(seconds))))
        case .nextHadCome(let occurrence): object("next_had_come", ("next", .string(occurrence)))
        case .superseded(let occurrence, let before):
            object("superseded", ("next", .string(occurrence)), ("before", before?.json ?? .null))
        case .andBefore(let times, let problem):
            object("and_before", ("times", .integer(Int64(times))), ("of", problem.json))
        case .fileChanging(let file, let seconds):
            object("file_changing", ("file", .string(file)), ("seconds", .integer(Int64(seconds))))
        case .stopped(let cause): object("stopped", ("cause", cause.json))
        case .missed(let missed):
            object(
                "missed", ("count", .integer(Int64(missed.count))), ("audience", .integer(Int64(missed.audience))),
                ("expired", .integer(Int64(missed.expired))), ("too_late", .integer(Int64(missed.tooLate))))
        case .notAccepted(let count, let unanswered, let audience):
            object(
                "not_accepted", ("count", .integer(Int64(count))), ("unanswered", .integer(Int64(unanswered))),
                ("audience", .integer(Int64(audience))))
        case .leftOut(let name): object("left_out", ("by", .string(name)))
        case .elsewhere(let machine, let run): object("elsewhere", ("machine", .string(machine)), ("run", .string(run)))
        case .approvalVoid(let name, let flaw): object("approval_void", ("by", .string(name)), ("flaw", flaw.json))
        case .described(let words): object("described", ("words", .string(words)))
        default: object(Self.plain.first { $0.problem == self }?.name ?? "")
        }
    }

    private func object(_ name: String, _ values: (String, JSONValue)...) -> JSONValue {
        .object(pairs: [("problem", .string(name))] + values)
    }

    /// The problem that `json` has made; nil for anything else.
    public init?(json: JSONValue) {
        func number(_ name: String) -> Int? { json[name]?.integerValue.map { Int($0) } }
        func text(_ name: String) -> String? { json[name]?.stringValue }
        let read: ScheduleProblem? =
            switch text("problem") {
            case "noticed_late": number("seconds").map { .noticedLate(seconds: $0) }
            case "broken_too_long": number("seconds").map { .brokenTooLong(seconds: $0) }
            case "next_had_come": text("next").map { .nextHadCome($0) }
            case "superseded":
                text("next").map { .superseded(by: $0, json["before"].flatMap { ScheduleProblem(json: $0) }) }
            case "and_before":
                number("times").flatMap { times in
                    json["of"].flatMap { ScheduleProblem(json: $0) }.map { .andBefore(times: times, $0) }
                }
            case "file_changing":
                text("file").flatMap { file in number("seconds").map { .fileChanging(file, seconds: $0) } }
            case "stopped": json["cause"].flatMap { StopCause(json: $0) }.map { .stopped($0) }
            case "missed":
                MissedPushes(
                    number("count"), audience: number("audience"), expired: number("expired"),
                    tooLate: number("too_late")
                ).map {
                    .missed($0)
                }
            case "not_accepted":
                number("count").flatMap { count in
                    number("unanswered").flatMap { unanswered in
                        number("audience").map { .notAccepted(count, unanswered: unanswered, audience: $0) }
                    }
                }
            case "left_out": text("by").map { .leftOut(by: $0) }
            case "elsewhere":
                text("machine").flatMap { machine in text("run").map { .elsewhere(machine: machine, run: $0) } }
            case "approval_void":
                text("by").flatMap { name in
                    json["flaw"].flatMap { AdvanceApproval.Flaw(json: $0) }.map { .approvalVoid(by: name, $0) }
                }
            case "described": text("words").map { .described($0) }
            case let name: Self.plain.first { $0.name == name }?.problem
            }
        guard let read else { return nil }
        self = read
    }

    /// Those without values, with their names, and the sentences that format 1 of the record kept
    /// of them.
    private static let plain: [(name: String, problem: ScheduleProblem, older: String)] = [
        (
            "sent_under_another_name", .sentUnderAnotherName,
            "its file was sent or skipped at this time already, under another name"
        ),
        ("unapproved", .unapproved, "nobody had approved it"),
        ("approved_too_late", .approvedTooLate, "nobody approved it in time"),
        ("planned_too_late", .plannedTooLate, "its plan was ready too late"),
        ("planning_ended", .planningEnded, "the process that planned it was ended, and there was no other in time"),
        (
            "campaign_changed", .campaignChanged,
            "its file was changed just before it was planned, and says another time or name"
        ),
        ("zone_changed", .zoneChanged, "the rules of its time zone were changed, and by the new ones it comes later"),
        ("campaign_broken", .campaignBroken, "its file has mistakes, or cannot be read"),
        ("begun_too_late", .begunTooLate, "it could not be begun in time"),
        ("run_gone", .runGone, "the file of its run is gone"),
        ("sent_by_hand", .sentByHand, "sent by hand"),
        ("restored", .restored, "the runs were put back from a backup, and it may have been sent before"),
    ]

    /// What format 1 of the record kept, a sentence; nil when that was blank.
    init?(older words: String) {
        switch words {
        case "": return nil
        case "cancelled": self = .stopped(.cancelled)
        default: self = Self.plain.first { $0.older == words }?.problem ?? .described(words)
        }
    }
}

extension AdvanceApproval.Flaw {
    /// `{"flaw": "too_many_devices", "devices": 12033, "most": 10000}`
    fileprivate var json: JSONValue {
        switch self {
        case .sourceDiffers: .object(pairs: [("flaw", .string("source_differs"))])
        case .tooManyDevices(let devices, let most):
            .object(pairs: [
                ("flaw", .string("too_many_devices")), ("devices", .integer(Int64(devices))),
                ("most", .integer(Int64(most))),
            ])
        case .notPermitted(let refusal):
            .object(pairs: [("flaw", .string("not_permitted")), ("because", refusal.json)])
        }
    }

    fileprivate init?(json: JSONValue) {
        func number(_ name: String) -> Int? { json[name]?.integerValue.map { Int($0) } }
        let read: AdvanceApproval.Flaw? =
            switch json["flaw"]?.stringValue {
            case "source_differs": .sourceDiffers
            case "too_many_devices":
                number("devices").flatMap { devices in number("most").map { .tooManyDevices(devices, most: $0) } }
            case "not_permitted": json["because"].flatMap { OrderRefusal(json: $0) }.map { .notPermitted($0) }
            default: nil
            }
        guard let read else { return nil }
        self = read
    }
}

extension MissedPushes {
    fileprivate init?(_ count: Int?, audience: Int?, expired: Int?, tooLate: Int?) {
        guard let count, let audience, let expired, let tooLate else { return nil }
        self.init(count: count, audience: audience, expired: expired, tooLate: tooLate)
    }
}
