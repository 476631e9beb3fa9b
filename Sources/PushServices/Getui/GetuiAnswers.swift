public import Base

extension Getui {
    /// The code of an answer that has a status for each target.
    static let success = "0"
    /// Bad parameters, and the text that comes with them if the parameter is the target.
    static let badParameter = "20001", badTargetText = "target user is invalid"
    static let badTarget = "\(badParameter) (\(badTargetText))"
    /// Refusals of a whole request because of one of its targets. A request of one target says
    /// which one that was.
    static let reasonsOfBadTargets: Set<String> = [badTarget, "21001"]
    /// What Getui says of a target that it takes.
    static let goodStatuses: Set<String> = ["successed_online", "successed_offline"]

    /// The row of a reason, whatever text it has; nil if Getui documents none.
    static func row(of reason: String) -> DocumentedAnswer? { answers[reason] ?? answers[code(of: reason)] }

    /// A reason without its text.
    static func code(of reason: String) -> String { String(reason.prefix { $0 != " " }) }

    static let answers = AnswerTable(rows)

    /// Reasons that blame a target, although a wrong app or column causes them for all targets.
    public var blamingReasons: Set<String> { Self.reasonsOfBadTargets }

    private static let credentials = "Check app_id, app_key and master_secret of the app in volley.yaml."
    private static let again = "You can send to these again."

    /// Refusals of what a run keeps, although they are not about a value of the message.
    static let codesAboutTags: Set<String> = ["30005", "30016"]

    /// The code decides, whatever the status that comes with it.
    /// Source: docs.getui.com, RestAPI V2, "code" up to 20001; from 21001 on a copy of that page
    /// of 2022. Quotas can be changed per app.
    static let rows = aboutDevices + aboutCampaigns + aboutTheSender + aboutQuotas + aboutAudiences + aboutTheServer

    private static let aboutDevices: [DocumentedAnswer] = [
        DocumentedAnswer(
            200, "successed_ignore", .rejected,
            explanation:
                "The app has not been used on these devices for 90 days, so Getui sent them nothing. Take them out of the next export.",
            probe: .fine),
        DocumentedAnswer(
            200, success, .untold,
            explanation:
                "Getui took the request, but did not say whether it took the pushes to these devices. They may have arrived. Ask Getui's support.",
            probe: .fine),
        DocumentedAnswer(
            400, badTarget, .invalidTarget(blamesSettings: true),
            explanation:
                "Getui does not know these client ids, or they belong to another app. When there are many, check the app's app_id and which column of the export holds them.",
            probe: .fine),
        DocumentedAnswer(
            400, "21001", .invalidTarget(blamesSettings: true),
            explanation:
                "Getui could not send to these client ids, because they are not valid. When there are many, check which column of the export holds them.",
            probe: .fine),
    ]

    private static let aboutCampaigns: [DocumentedAnswer] = [
        DocumentedAnswer(
            400, badParameter, .rejectedLikeAll,
            explanation:
                "Getui did not accept the message: a value in it is not allowed, or too long. Shorten the text, or correct what the reason names.",
            advice:
                "The message itself is wrong, not the device: a value in it is not allowed, or too long. Correct the campaign's content, or its payload "
                + "if it is written by hand, and \(DocumentedAnswer.planAgain)",
            probe: .notTheService)
    ]

    private static let aboutTheSender: [DocumentedAnswer] =
        [
            DocumentedAnswer(
                401, "10001", .retry(.credentialExpired), explanation: "Getui did not accept the token. \(credentials)",
                advice: "\(credentials) Check that no other program deletes the app's tokens.", probe: .wrongCredentials
            ),
            DocumentedAnswer(
                401, "10002", .stop,
                explanation: "The app, or this machine's address, is on Getui's black list. Ask Getui's support.",
                advice: "Ask Getui's support why the app, or this machine's address, is on its black list.",
                probe: .wrongCredentials),
            DocumentedAnswer(
                401, "10004", .stop, explanation: "The app may not use this function of Getui. Ask Getui's support.",
                advice:
                    "Ask Getui's support for the right to send batches of single pushes, and lists if the app has 'lists'.",
                probe: .wrongTopic),
        ]
        + ["30000", "30001", "30002", "30017"].map { code in
            DocumentedAnswer(
                403, code, .stop, explanation: "The app has no right to what it asked of Getui. Ask Getui's support.",
                advice: "Ask Getui's support which rights the app lacks.", probe: .wrongTopic)
        }

    private static let aboutQuotas: [DocumentedAnswer] =
        ["10003", "10005"].map { code in
            DocumentedAnswer(
                401, code, .retry(.quota),
                explanation:
                    "The app had made as many calls in a minute as it may, until it was too late for these. Set a slower pace. \(again)",
                advice: "Wait a minute, and set a slower pace.", probe: .busy)
        }
        + ["30004", "30006", "30008", "30009", "30011"].map { code in
            DocumentedAnswer(
                403, code, .usedUp, explanation: "The app had sent as much as it may in a day. \(again)",
                advice: "Continue tomorrow, or ask Getui for a larger quota.", probe: .busy)
        }
        + ["30012", "30013", "30015", "30018"].map { code in
            DocumentedAnswer(
                403, code, .retry(.quota),
                explanation:
                    "The app had sent as much in a minute as it may, until it was too late for these. Set a slower pace. \(again)",
                advice: "Wait a minute, and set a slower pace.", probe: .busy)
        }

    /// Of calls to everyone and to tags (`Getui+Audience`).
    private static let aboutAudiences: [DocumentedAnswer] =
        [
            DocumentedAnswer(
                403, "30003", .stop,
                explanation: "The app has no right to send to tags, or a tag is not valid. Ask Getui's support.",
                advice: "Ask Getui's support for the right to send to tags, and check the campaign's tags.",
                probe: .wrongTopic),
            DocumentedAnswer(
                403, "30005", .stop, explanation: "A tag is longer than Getui allows. Shorten the campaign's tags.",
                advice:
                    "Shorten the campaign's tags, and plan again without those whom this run has reached: a run keeps the tags that it was "
                    + "planned with.", probe: .wrongTopic),
            DocumentedAnswer(
                403, "30016", .stop,
                explanation: "The call named more tags than the app may name. Name fewer tags in a campaign.",
                advice:
                    "Ask Getui's support how many tags a call may name, and write campaigns with fewer tags: a run keeps the tags that it was "
                    + "planned with.", probe: .wrongTopic),
            DocumentedAnswer(
                403, "30014", .retry(.quota),
                explanation:
                    "The app had sent to everyone and to tags as often in a minute as it may, which is five times in all, until it was too late for these. Name fewer tags. \(again)",
                advice: "Wait a minute: an app may send to everyone and to tags five times in it.", probe: .busy),
        ]
        + ["30007", "30010"].map { code in
            DocumentedAnswer(
                403, code, .usedUp,
                explanation:
                    "The app had sent to everyone and to tags as often in a day as it may, which is 100 times in all. \(again)",
                advice:
                    "An app may send to everyone and to tags 100 times a day in all. Resume the run tomorrow, or ask Getui for a larger quota.",
                probe: .busy)
        }

    private static let aboutTheServer: [DocumentedAnswer] =
        [
            DocumentedAnswer(
                200, "1", .stop,
                explanation: "Getui could not read Volley's request. Please report this: it is a defect in Volley.",
                advice: "Please report this: Getui could not read Volley's request.", probe: .notTheService),
            DocumentedAnswer(
                200, "2", .retry(.serviceBusy),
                explanation: "Getui's service was starting until the retries ran out. \(again)",
                probe: .busy),
            DocumentedAnswer(
                200, Getui.otherDataCentre, .retry(.otherServer),
                explanation:
                    "Getui serves the app at another data centre, and none of its servers that Volley knows took these. \(again)",
                advice:
                    "Ask Getui's support which server the app belongs to, and name it: environment: {url: …} in volley.yaml.",
                probe: .busy),
            DocumentedAnswer(
                404, "404", .stop,
                explanation: "The server does not know this address. Check the app's app_id and environment.",
                advice: "Check app_id and environment (host and port) in volley.yaml.", probe: .notTheService),
            DocumentedAnswer(
                405, "405", .stop,
                explanation: "The server does not understand Getui's requests. Check the app's environment.",
                advice: "Check environment (host and port) in volley.yaml.", probe: .notTheService),
            DocumentedAnswer(
                403, "30019", .retry(.serviceBusy),
                explanation: "Getui was overloaded until the retries ran out. \(again)", probe: .busy),
        ]
        + ["22001", "22002", "23001"].map { code in
            DocumentedAnswer(
                400, code, .rejected,
                explanation: "Getui refused an operation with schedules or tags, which Volley does not use.",
                probe: .notTheService)
        }
}

/// What answers mean. Source: docs.getui.com, RestAPI V2, "push" and "code".
extension Getui {
    /// `{"code": 0, "msg": "", "data": {"TASK": {"CID": "successed_online"}}}`, or
    /// `{"code": 20001, "msg": "…"}`
    ///
    /// The code counts. Of a bad parameter, and of a code that is not documented, the text is a
    /// part of the reason.
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        guard let code = body["code"]?.integerValue else { return details }
        details.reason = String(code)
        if details.reason == Self.otherDataCentre { details.server = Self.server(in: body["data"]) }
        guard details.reason != Self.success else {
            details.targets = Self.statuses(body["data"])
            return details
        }
        let text = body["msg"]?.stringValue ?? ""
        if details.reason == Self.badParameter || Self.answers[details.reason] == nil, !text.isEmpty {
            let isAboutTarget = details.reason == Self.badParameter && text.contains(Self.badTargetText)
            details.reason += " (\(isAboutTarget ? Self.badTargetText : SecretText.withoutTokens(text)))"
        }
        return details
    }

    static let otherDataCentre = "301"

    /// The first of Getui's servers that an answer lists: `{"hostList": [{"domainList":
    /// ["https://restapi.getui.com"]}]}`. Any other name is ignored, because an unknown server must
    /// not get the app's token. Source: Getui's SDK for Java, `RasDomainBO` and
    /// `HostManager.handleDomain`, which writes names with capitals; others do with underscores.
    private static func server(in data: JSONValue?) -> String? {
        guard let data, case .array(let lists)? = data["hostList"] ?? data["host_list"] else { return nil }
        for list in lists {
            guard case .array(let addresses)? = list["domainList"] ?? list["domain_list"] else { continue }
            for address in addresses.compactMap(\.stringValue) where address.hasPrefix("https://") {
                let host = address.dropFirst("https://".count).prefix { $0 != "/" }
                let isGetuis = host.hasSuffix(".getui.com") && host.utf8.allSatisfy(Self.hostCharacters.contains)
                if isGetuis, host.utf8.count <= 100 { return String(host) }
            }
        }
        return nil
    }

    private static let hostCharacters = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-.")

    /// The statuses of all targets, whichever task they belong to.
    private static func statuses(_ data: JSONValue?) -> [String: String] {
        guard case .object(let tasks)? = data else { return [:] }
        var statuses: [String: String] = [:]
        for task in tasks {
            guard case .object(let targets) = task.value else { continue }
            for target in targets { statuses[target.name] = target.value.stringValue }
        }
        return statuses
    }

    /// What an answer means for each push.
    public func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? {
        if answer.isCutOff { return nil }
        if answer.reason == Self.success {
            return targets.map { Self.goodStatuses.contains($0) ? .accepted : $0.isEmpty ? .untold : .rejected }
        }
        // Of several pushes with texts of their own it is not known which one is meant.
        guard targets.count == 1,
            Self.code(of: answer.reason) == Self.badParameter || Self.reasonsOfBadTargets.contains(answer.reason)
        else { return nil }
        return Self.row(of: answer.reason).map { [$0.meaning] }
    }

    /// What an answer means for a request, and the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        // Getui writes a code into every answer, also below good statuses: what has none is not
        // from it, or not whole.
        if answer.isCutOff || answer.status == 200 && answer.reason.isEmpty {
            return answer.wasNotPassedOn ? .notTheService : .maybeTaken
        }
        if answer.reason == Self.success { return .accepted }
        if let row = Self.row(of: answer.reason) {
            switch row.meaning {
            // One message of the request was wrong, or one target: the others were not sent.
            case .invalidTarget, .rejectedLikeAll: return .split
            default: return row.meaning
            }
        }
        // A code that Getui adds later means the same with a good status.
        return answer.status == 200 ? .rejectedLikeAll : answer.undocumentedMeaning
    }

    /// Getui has no code for a list with a text that it no longer keeps: it refuses a parameter, as
    /// it refuses others.
    public func mayHaveForgottenText(_ answer: ServiceAnswer) -> Bool {
        Self.code(of: answer.reason) == Self.badParameter && !Self.reasonsOfBadTargets.contains(answer.reason)
    }

    /// What the report says about a reason that Getui documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.row(of: reason)?.words
    }

    /// A bad parameter, unless it is the target; tags; also codes that Getui adds later.
    public func blamesMessage(status: Int, reason: String) -> Bool {
        Self.row(of: reason).map { $0.meaning == .rejectedLikeAll || Self.codesAboutTags.contains($0.reason) }
            ?? (meaning(of: ServiceAnswer(status: status, reason: reason)) == .rejectedLikeAll)
    }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.row(of: reason)?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405:
            return "The server does not understand Getui's requests: check environment (host and port) in volley.yaml."
        case 200, 400:
            return
                "Getui did not accept the message: check the campaign's content, and its payload if it is written by hand."
        default: return "Check app_id, app_key and master_secret of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        if let row = Self.row(of: reason) { return row.probe }
        return switch status {
        case 401, 403: .wrongCredentials
        case 429, 500...: .busy
        default: .notTheService
        }
    }
}
