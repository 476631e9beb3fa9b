import Base
import PushServices

/// Reads `delivery`: how a campaign gets there.
struct DeliveryReader {
    /// Pushes that expire sooner are most likely a slip.
    private static let shortestUsefulSeconds = 60

    let section: Section
    let now: Timestamp
    /// Those that take the pushes, at least one.
    let services: [any PushService]

    /// The delivery; what is wrong in it was reported.
    func read() -> CampaignDelivery {
        var delivery = CampaignDelivery()
        refuseForeignKeys()
        delivery.pace = section.parsed("pace", example: "pace: 5000/s", PaceNotation.pace)
        delivery.pacePosition = section.node("pace")?.position
        delivery.frequency = section.parsed("frequency", example: FrequencyNotation.example, FrequencyNotation.cap)
        delivery.expiry = expiry()
        delivery.priority = priority()
        delivery.priorityPosition = section.node("priority")?.position
        delivery.collapseID = collapseID()
        delivery.unknownPolicy = section.choice("unknown", [("resend", .resend), ("skip", .skip)])
        delivery.tracking = tracking()
        delivery.trackingPosition = section.has("track") ? section.place(of: "track") : nil
        delivery.stopLimits = section.node("stop_when").flatMap { StopReader($0, findings: section.findings)?.read() }
        return delivery
    }

    /// `true`, `false` or `silent`
    private func tracking() -> TrackedPushes? {
        guard let text = section.node("track")?.text, CoreSchema.bool(text.value) == nil else {
            return section.truth("track") ?? false ? .visible : nil
        }
        if text.value == "silent" { return .silentToo }
        let meant =
            ["silent", "all"].contains(text.value.lowercased())
            ? "silent" : ["visible", "yes", "on"].contains(text.value.lowercased()) ? "true" : nil
        section.findings.error(
            "'track' must be true, false or silent, not '\(TextFormat.inLine(text.value))'", at: text.position,
            remedy: meant.map { "Write track: \($0)." }
                ?? "Write track: true, or track: silent to count silent pushes, too.")
        return .visible
    }

    private func takes(_ key: DeliveryKey) -> Bool { services.contains { $0.rules.deliveryKeys.contains(key) } }

    /// What the services do not carry out.
    private func refuseForeignKeys() {
        for key in DeliveryKey.allCases where section.has(key.rawValue) {
            let lacking = services.filter { !$0.rules.deliveryKeys.contains(key) }
            section.findings.note(lacking, of: services, lack: key, at: section.place(of: key.rawValue))
        }
    }

    private func priority() -> PushPriority? {
        guard takes(.priority) else { return nil }
        let choices: [(String, PushPriority)] = [("high", .high), ("normal", .normal), ("low", .low)]
        // The number that the service gets would be clear, but people that read "5" in the file
        // later would not understand it.
        if let text = section.node("priority")?.text,
            let meant = choices.first(where: { String($0.1.rawValue) == text.value })
        {
            section.findings.error(
                "'priority' is written as a word", at: text.position, remedy: "Write priority: \(meant.0).")
            return nil
        }
        return section.choice("priority", choices)
    }

    private func collapseID() -> SourceText? {
        guard takes(.collapse), let text = section.text("collapse", example: "collapse: spring-sale") else {
            return nil
        }
        return section.accepted(text) { text throws(Mistake) in
            for service in services where service.rules.deliveryKeys.contains(.collapse) {
                try CollapseID.check(text, service)
            }
        }
    }

    private func expiry() -> Expiry? {
        guard takes(.expires), let text = section.text("expires", example: "expires: 4h") else { return nil }
        guard let expiry = section.checked(text, Self.expiry) else { return nil }
        let seconds: Int
        switch expiry {
        case .immediately: return expiry
        case .after(let delay): seconds = delay
        case .at(let moment):
            guard moment > now else {
                section.findings.error(
                    "the expiry \(moment) is in the past", at: text.position,
                    remedy: "Write a later moment, or a time from the start such as 4h.")
                return nil
            }
            seconds = Int(moment.epochSeconds - now.epochSeconds)
        }
        if seconds < Self.shortestUsefulSeconds {
            section.findings.warning(
                .expiresSoon,
                message:
                    "the expiry is \(seconds) seconds away: phones that are off or busy at that moment never get the push",
                at: text.position, remedy: "Write a later moment, for example expires: 4h, or 0 for now or never.")
        }
        let known = services.compactMap { service in
            service.rules.longestStorageDays.map { (service: service, days: $0) }
        }
        guard let (service, days) = known.min(by: { $0.days < $1.days }) else { return expiry }
        if seconds > days * 86_400 {
            section.findings.warning(
                .expiryTooLong,
                message:
                    "the expiry is more than \(days) days away, but \(service.displayName) stores a push for \(days) days at most",
                at: text.position, remedy: "Write expires: \(days)d, or remove the key.")
        }
        return expiry
    }

    /// `0`, a length of time, or a date with a time.
    static func expiry(_ text: String) throws(Mistake) -> Expiry {
        let text = text.trimmingSpaces()
        if text == "0" { return .immediately }
        let dateLength = 10
        guard text.utf8.count >= dateLength, text.utf8.prefix(dateLength).filter({ $0 == UInt8(ascii: "-") }).count == 2
        else {
            let seconds = try ExpiryNotation.seconds(text)
            return seconds == 0 ? .immediately : .after(seconds: seconds)
        }
        guard text.utf8.count > dateLength else {
            throw Mistake(
                "the date \(quoted(text)) lacks a time",
                remedy: "For example: expires: \(text) 18:00 +00:00, or \(text) 18:00 +02:00.")
        }
        guard let moment = Timestamp(text) else {
            throw Mistake(
                "\(quoted(text)) is not a date and time",
                remedy: ExpiryNotation.remedy(ExpiryNotation.moments(meantBy: text)))
        }
        return .at(moment)
    }
}

extension PushService {
    /// A key of a campaign that the service does not have.
    func lacks(_ key: String) -> Mistake { Mistake("\(displayName) has no '\(key)'", remedy: "Remove it.") }
}

extension Expiry {
    /// Whether a date with a time says in which zone it is: `Z`, or an offset from UTC after the
    /// time.
    static func saysZone(_ text: String) -> Bool {
        let time = text.trimmingSpaces().dropFirst("2026-12-01 ".count)
        return time.contains { "Zz+-".contains($0) }
    }
}

/// Lengths of time of `expires`, which takes moments too.
private enum ExpiryNotation {
    /// The seconds of a length of time.
    static func seconds(_ text: String) throws(Mistake) -> Int {
        if let mistake = WrittenDash.mistake(
            in: text, isRight: { Timestamp($0) != nil }, remedy: { "Write expires: \($0)" })
        {
            throw mistake
        }
        let moments = moments(meantBy: text)
        if looksLikeDate(text) || !moments.isEmpty {
            throw Mistake(
                "\(quoted(text)) is not a date as Volley reads it: the year comes first, because day and month are easily mixed up",
                remedy: remedy(moments))
        }
        guard text.first?.isNumber == true else {
            throw Mistake(
                "\(quoted(text)) is neither a length of time nor a date",
                remedy:
                    "Write for example 4h or 2d, counted from the start, or a moment such as 2026-12-01 18:00 +01:00.")
        }
        return try DurationNotation.seconds(text)
    }

    /// The moments, in UTC, that a date in another form may mean.
    static func moments(meantBy text: String) -> [String] {
        OperandRule.dates(meantBy: text).map { "\($0) +00:00" }.filter { Timestamp($0) != nil }
    }

    static func remedy(_ moments: [String]) -> String {
        moments.isEmpty
            ? "Write it like 2026-12-01 09:00 +00:00 or 2026-12-01 09:00 +02:00."
            : "Write expires: \(moments.joined(separator: " or ")), with the offset from UTC of the clock that you mean."
    }

    /// `1.12.2030`, `12/01/2030 9:00`, `2030/12/01`
    private static func looksLikeDate(_ text: String) -> Bool {
        let parts = text.prefix { $0 != " " && $0 != "T" }.split(omittingEmptySubsequences: false) {
            "./-".contains($0)
        }
        return parts.count >= 3 && parts.prefix(2).allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isNumber) }
    }
}

/// The rules for collapse ids.
enum CollapseID {
    /// Accepts a text of one line that is not longer than the service takes it.
    static func check(_ text: String, _ service: any PushService) throws(Mistake) {
        guard text.utf8.count <= service.rules.collapseIDBytes else {
            throw Mistake(
                "'collapse' has \(text.utf8.count) bytes, and \(service.displayName) takes at most \(service.rules.collapseIDBytes)",
                remedy: "Shorten it; letters beyond a-z count as two to four bytes each.")
        }
        guard !text.contains("{{"), !text.contains("{%") else {
            throw Mistake(
                "'collapse' cannot hold a template: it is the same for every device",
                remedy: "Write a fixed name, for example: collapse: spring-sale.")
        }
        // A tab at an end is reported as the space that it looks like.
        let trimmed = HeaderSpace.trimmed(text)
        guard trimmed.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw Mistake(
                "'collapse' must be a single line without control characters",
                remedy: "Write a short name, for example: collapse: spring-sale.")
        }
        guard trimmed == text else {
            throw Mistake(
                "'collapse' begins or ends with a space, which \(service.displayName) does not take",
                remedy: isPlain(trimmed) ? "Write collapse: \(trimmed)." : "Write it without the spaces around it.")
        }
    }
    /// Whether YAML takes it without quotes.
    private static func isPlain(_ text: String) -> Bool {
        text.first?.isLetter == true
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || "-_. ".unicodeScalars.contains($0)
            }
    }
}

/// Spaces and tabs around a header's value, which HTTP/2 does not allow. Source: RFC 9113 section
/// 8.2.1.
public enum HeaderSpace {
    /// A value without those around it.
    public static func trimmed(_ value: String) -> String {
        var scalars = value.unicodeScalars[...]
        while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        return String(scalars)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}

/// Reads `delivery.stop_when`: shares of bad answers beyond which a run stops.
struct StopReader {
    static let example = "stop_when: {invalid_token: 20%, rejected: 1%, after: 1000}"
    /// More answers than any run has.
    private static let mostAnswers = 1_000_000_000

    let section: Section

    /// - Parameter node: the value of `stop_when`; nil when it is wrong, and reported.
    init?(_ node: YAMLNode, findings: Findings) {
        guard
            let section = Section(
                node, CampaignKeys.stopWhen, of: CampaignKeys.file, example: Self.example, findings: findings)
        else {
            return nil
        }
        self.section = section
    }

    /// The limits; what is wrong in them was reported.
    func read() -> StopLimits {
        var limits = StopLimits()
        for outcome in StopLimits.outcomes {
            limits.shares[outcome] = section.parsed(outcome.name, example: "\(outcome.name): 5%", Self.share)
        }
        if let after = section.wholeNumber(
            "after", in: 1...Self.mostAnswers, example: "after: \(StopLimits.usualAnswers)")
        {
            limits.after = after
        }
        if !StopLimits.outcomes.contains(where: { section.mentions($0.name) }),
            section.entries.allSatisfy({ $0.key.value == "after" })
        {
            section.findings.error(
                "'stop_when' names no share, so it would never stop anything", at: section.position,
                remedy: "For example: \(Self.example)."
            )
        }
        return limits
    }

    /// `20%`, `0.5%`: above 0 and at most 100.
    static func share(_ text: String) throws(Mistake) -> StopShare {
        let text = text.trimmingSpaces()
        guard text.hasSuffix("%") else {
            guard let number = number(text), number > 0 else { throw noPercentage(text) }
            // 0.2 may mean a fifth or a fifth of a percent: the author must say which.
            throw number < 1
                ? Mistake(
                    "\(quoted(text)) may mean \(trimmed(number * 100))% or \(trimmed(number))%",
                    remedy: "Write it with a percent sign, for example: \(trimmed(number * 100))%.")
                : Mistake("\(quoted(text)) lacks a percent sign", remedy: "Write \(text)%.")
        }
        guard let percent = number(text.dropLast().trimmingSpaces()) else { throw noPercentage(text) }
        guard percent <= 100 else {
            throw Mistake("\(quoted(text)) is more than 100%", remedy: "Write a share above 0% and up to 100%.")
        }
        let millionths = Int((percent * 10_000).rounded())
        guard millionths > 0 else {
            throw Mistake(
                "a limit of \(quoted(text)) would stop the run at the first such answer, and some are normal in any list",
                remedy: "Write a share above 0%, for example: 1%.")
        }
        return StopShare(millionths: millionths)
    }

    /// Digits with at most one point, nothing else.
    private static func number(_ text: String) -> Double? {
        guard !text.isEmpty, text.utf8.count <= 20, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else {
            return nil
        }
        return Double(text)
    }

    private static func trimmed(_ percent: Double) -> String {
        String(StopShare(millionths: max(1, Int((percent * 10_000).rounded()))).description.dropLast())
    }

    private static func noPercentage(_ text: String) -> Mistake {
        Mistake(
            "\(quoted(text)) is not a percentage", remedy: "Write it with a percent sign, for example: 20% or 0.5%.")
    }
}
