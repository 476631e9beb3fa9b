import Base

/// The audiences that Getui keeps: tags and aliases that apps gave their devices. Each alias and
/// each client id is a call of its own: in a batch one that Getui does not know would lose all
/// others their push, and a list has no `request_id` by which Getui recognizes it.
/// Source: docs.getui.com, RestAPI V2, "push", toSingle and toApp, and "user"; limits from DCloud's
/// page about uni-push.
extension Getui {
    /// Everyone, tags, aliases and client ids.
    public var ownAudience: OwnAudience? { Self.audiences }

    private static let audiences: OwnAudience = {
        // Also for apps with lists.
        let service = Getui()
        return OwnAudience(
            of: service,
            names: [
                OwnAudience.Names(
                    .tags, mostOfCall: mostTags, isOnlyOne: false,
                    rule: "A tag of Getui has at most \(longestTag) characters, and neither a space nor a comma",
                    normalize: tag),
                OwnAudience.Names(
                    .aliases, mostOfCall: 1, isOnlyOne: true,
                    rule:
                        "An alias of Getui has at most \(longestAlias) characters: letters, digits, Chinese characters, and _@.+-",
                    normalize: alias),
                OwnAudience.Names(
                    .registrationIDs, mostOfCall: 1, isOnlyOne: true,
                    rule: "Getui chooses devices by their client ids (cid): \(digits) hex digits",
                    normalize: { targets.target($0)?.text }),
            ], answers: audienceAnswers, request: service.audienceRequest, check: nil)
    }()

    // MARK: - Names

    /// Getui does not publish how many a call may name; 30016 says that they were too many. Few
    /// calls are wanted, as an app has a hundred a day.
    private static let mostTags = 100
    /// 30005: shorter than 32 characters. The page about tags allows 32.
    private static let longestTag = 31
    /// Shorter than 40 characters.
    private static let longestAlias = 39

    /// Getui excludes blanks, and a comma divides tags.
    @Sendable private static func tag(_ name: String) -> String? {
        let isName =
            (1...longestTag).contains(name.utf16.count)
            && name.unicodeScalars.allSatisfy { scalar in
                !scalar.properties.isWhitespace && scalar != "," && scalar.properties.generalCategory != .control
            }
        return isName ? name : nil
    }

    /// The page about aliases has letters, digits, `_` and Chinese characters, and says that an
    /// address of e-mail may be one.
    @Sendable private static func alias(_ name: String) -> String? {
        let isName =
            (1...longestAlias).contains(name.utf16.count)
            && name.unicodeScalars.allSatisfy { scalar in
                guard scalar.isASCII else { return scalar.properties.isIdeographic }
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                return ASCIISet.lettersAndDigits.contains(byte) || "_@.+-".utf8.contains(byte)
            }
        return isName ? name : nil
    }

    // MARK: - Requests

    /// A POST for each call. Its path follows from what the call names.
    private func audienceRequest(_ options: PushOptions) -> RequestTemplate {
        let message = GetuiMessage(options)
        return RequestTemplate(
            pathPrefix: "/v2/\(options.topic)/push/", headers: Self.headers, idHeader: Self.idHeader,
            body: { calls, now, bytes in
                for push in calls {
                    message.append(push, audience: Self.audience(of: Self.call(push)), now: now, to: &bytes)
                }
            }, pathEnd: { calls in calls.first.map { Self.path(of: Self.call($0)) } ?? "" })
    }

    private static func call(_ push: RequestPush) -> AudienceCall {
        guard let call = AudienceCall(target: push.target) else {
            preconditionFailure("a run to audiences of Getui has calls for targets")
        }
        return call
    }

    private static func path(of call: AudienceCall) -> String {
        switch call.selector {
        case nil: "all"
        case .tags: "tag"
        case .aliases: "single/alias"
        case .registrationIDs: "single/cid"
        case .channel: preconditionFailure("Getui has no channels")
        }
    }

    private static func audience(of call: AudienceCall) -> JSONValue {
        let names = JSONValue.array(call.names.map { .string($0) })
        return switch call.selector {
        case nil: .string("all")
        case .tags:
            .object(pairs: [
                (
                    "tag",
                    .array([
                        .object(pairs: [("key", .string("custom_tag")), ("values", names), ("opt_type", .string("or"))])
                    ])
                )
            ])
        case .aliases: .object(pairs: [("alias", names)])
        case .registrationIDs: .object(pairs: [("cid", names)])
        case .channel: preconditionFailure("Getui has no channels")
        }
    }
}

/// What answers to calls mean.
extension Getui {
    /// The reason of an answer that has a task for a call, and no status for any device.
    static let noStatus = "no status"

    private static let audienceAnswers = AudienceAnswers(
        words: [
            badTarget:
                "Getui has no device under these aliases and client ids, or they belong to another app. Check them, and the app's app_id.",
            "21001":
                "Getui could not send to these aliases and client ids, because they are not valid. Check them, and the app's app_id.",
            "successed_ignore":
                "The app has not been used on these devices for 90 days, so Getui sent them nothing. They need no other push.",
            badParameter:
                "Getui did not accept a name of the audience, or a value of the message. Check the names, and the campaign's content.",
            noStatus: "Getui took the call, but did not say what became of its devices. Ask Getui's support.",
        ], isAboutNames: isAboutNames, details: audienceDetails,
        advice: [
            badParameter:
                "Getui did not accept the message, or a name of the audience. Correct the campaign's content, or the name, and plan again: a "
                + "run keeps what it was planned with.",
            "10004": "Ask Getui's support for the right to send to tags, to aliases and to everyone.",
        ])

    /// A target that is wrong; a status, where all devices of a call have bad ones.
    @Sendable private static func isAboutNames(_ answer: ServiceAnswer) -> Bool {
        reasonsOfBadTargets.contains(answer.reason)
            || answer.status == 200 && !answer.reason.isEmpty && Int(answer.reason) == nil
    }

    /// `{"code": 0, "data": {"taskid": "RASA_…"}}` to everyone and to tags; of an alias or a client
    /// id `{"code": 0, "data": {"TASK": {"CID": "successed_online"}}}`, with a status for each
    /// device of the alias.
    ///
    /// A call is accepted for one device that gets its push. Without a task the answer is not
    /// whole.
    @Sendable private static func audienceDetails(of body: JSONValue) -> AnswerDetails {
        var details = Getui().details(of: body)
        let statuses = details.targets.values.filter { !$0.isEmpty }
        details.targets = [:]
        guard details.reason == success, body["data"]?["taskid"]?.stringValue == nil,
            !statuses.contains(where: goodStatuses.contains)
        else { return details }
        guard case .object(let tasks)? = body["data"], !tasks.isEmpty else {
            details.reason = ""
            return details
        }
        details.reason = statuses.sorted().first ?? noStatus
        return details
    }
}
