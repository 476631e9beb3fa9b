public import Base

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
