public import Base

/// What answers mean. Source: Google, "FCM error codes".
extension FCM {
    /// `{"error": {"code": 404, "status": "NOT_FOUND", "details": [{"@type": "…FcmError",
    /// "errorCode": "UNREGISTERED"}]}}`
    ///
    /// FCM's code counts; without one, the status. Of a bad request, the field that it names is a
    /// part of the reason.
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        // Calls that stream wrap an error in a list; so do some proxies of Google.
        let error = if case .array(let items) = body { items.first?["error"] } else { body["error"] }
        guard let error else {
            details.receipt = Self.messageName(in: body) ?? ""
            return details
        }
        let parts = if case .array(let parts)? = error["details"] { parts } else { [JSONValue]() }
        let code = parts.first { $0.isOfType("google.firebase.fcm.v1.FcmError") }?["errorCode"]?.stringValue
        details.reason = code ?? error["status"]?.stringValue ?? ""
        guard details.reason == Self.badRequest else { return details }
        let field = parts.first { $0.isOfType("google.rpc.BadRequest") }.flatMap(Self.field)
        let namesTarget = error["message"]?.stringValue?.contains("not a valid FCM registration token") == true
        if let field = field ?? (namesTarget ? "message.token" : nil) { details.reason += " (\(field))" }
        return details
    }

    /// The name of the message that FCM took: `{"name": "projects/PROJECT/messages/ID"}`.
    private static func messageName(in body: JSONValue) -> String? {
        guard let name = body["name"]?.stringValue else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "projects" && parts[2] == "messages" && !parts[1].isEmpty
            && !parts[3].isEmpty ? name : nil
    }

    /// The first field that a bad request names, if it is one: not text that could be anything.
    private static func field(of badRequest: JSONValue) -> String? {
        guard case .array(let violations)? = badRequest["fieldViolations"] else { return nil }
        let fields = violations.compactMap { $0["field"]?.stringValue }
        let field = fields.first { ["message.token", "message.fid"].contains($0) } ?? fields.first
        let characters = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.[]")
        return field.flatMap { (1...60).contains($0.utf8.count) && $0.utf8.allSatisfy(characters.contains) ? $0 : nil }
    }

    /// What an answer means for the push, the device and the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        // FCM names each message that it takes. What has no name is not from it, or not whole. A
        // name counts whatever came after it.
        if answer.status == 200 { return answer.hasReceipt ? .accepted : .maybeTaken }
        if !answer.isCutOff, let row = Self.row(answer.status, answer.reason) { return row.meaning }
        return answer.undocumentedMeaning
    }

    /// What the report says about a reason that Google documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.row(of: reason)?.words
    }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.row(status, reason)?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405:
            return "The server does not understand FCM's requests: check environment (host and port) in volley.yaml."
        case 400:
            return
                "FCM did not accept the message: check the campaign's content, and its payload if it is written by hand."
        default: return "Check project and service_account of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        Self.row(status, reason)?.probe ?? ProbeMeaning(status: status)
    }
}

extension JSONValue {
    /// Whether a detail of an error is of a type, which is written as an address:
    /// `type.googleapis.com/TYPE`.
    fileprivate func isOfType(_ name: String) -> Bool {
        self["@type"]?.stringValue?.split(separator: "/").last.map { $0 == name } ?? false
    }
}
