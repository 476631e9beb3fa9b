import Base
import Campaigns

/// How fast a campaign goes out, and what happens on the way. All of it may be left as it is.
enum HowSection: ComposerSection {
    static let title = "How"
    static let isFolded = true

    private static let group = ["delivery"]
    private static let pace = CampaignForm.Field(
        path: group + ["pace"], label: "Pace, at most", kind: .notation(.pace), hint: "Blank for the pace of the app.")
    private static let stops: [CampaignForm.Field] = [
        ("invalid_token", "Stop if this share of devices has removed the app"),
        ("rejected", "Stop if this share is refused"),
        ("failed", "Stop if this share fails after retries"),
    ].map { .init(path: group + ["stop_when", $0.0], label: $0.1, kind: .notation(.percent)) }
    private static let after = CampaignForm.Field(
        path: group + ["stop_when", "after"], label: "Judged after so many answers", kind: .number,
        hint: "1,000 if this is blank.")
    private static let shrinks = CampaignForm.Field(
        path: ["audience", "shrinks_at_most"],
        label: "Hold it back if the audience is smaller than last time by more than",
        kind: .notation(.percent),
        hint: "An export that was cut off sends to too few. At its times, 50 % counts if this is blank.")

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        [
            pace,
            .init(
                path: group + ["expires"], label: "How long it is worth delivering", kind: .notation(.expiry),
                hint:
                    "From the moment at which it is sent: phones that are off for longer do not get it. Blank for as long as the service stores it."
            ),
            .init(
                path: group + ["priority"], label: "How urgent it is",
                kind: .oneOf([
                    ("", "As usual: at once; a silent one when it suits the phone"),
                    ("high", "High: at once, also if it wakes the phone"),
                    ("normal", "Normal: when it suits the phone, to save its battery"),
                    ("low", "Low: without waking the phone"),
                ])),
            .init(
                path: group + ["collapse"], label: "Replaces earlier pushes called", kind: .line,
                hint: "A newer push with this name takes the place of an older one on the phone. Blank to keep both."),
            .init(
                path: group + ["frequency"], label: "No more than so many pushes for one device",
                kind: .notation(.frequency),
                hint:
                    "Devices that got as many pushes of the app already are left out. The app may have a limit of its own."
            ),
        ] + stops + [
            after, shrinks,
            .init(
                path: group + ["unknown"], label: "If it is not known whether a push arrived",
                kind: .oneOf([
                    ("", "As its service suggests"), ("resend", "Send it again: a device may show it twice"),
                    ("skip", "Leave it: a device may miss it"),
                ])),
            .init(
                path: group + ["track"], label: "Say in each push which campaign it is",
                kind: .oneOf([
                    ("", "No"), ("true", "Yes, in the app’s data and in web links"),
                    ("silent", "Yes, in silent pushes too"),
                ])),
        ]
    }

    static func html(_ context: ComposerContext) -> HTML {
        let duration = duration(context.previewState, context.trial.counted ?? context.edit, context.site)
        let controls: [HTML] = fields(in: context.edit).map { field in
            guard field.name == pace.name, let value = context.value(of: field) else { return context.control(field) }
            let note: HTML =
                "<span class=\"note\" data-fill=\"duration\">\(duration)</span>"
            return NotationControl.html(value, .pace, note: note)
        }
        return HTML(joined: controls)
    }

    /// How long sending takes; blank where the devices are not counted.
    static func duration(_ state: DraftPreview.State, _ edit: YAMLEdit, _ site: Site) -> HTML {
        guard case .known(let preview) = state else { return "" }
        func text(_ path: [String]) -> String { CampaignForm.text(of: (try? edit.value(at: path)) ?? nil) }
        return duration(
            of: preview.audience, pace: text(pace.path), app: (try? site.project())?.app(named: text(["app"]))?.pace)
    }

    /// How long sending takes at the slower of two paces.
    static func duration(of devices: Int, pace text: String, app: Pace?) -> HTML {
        let own = Notation.pace.split(text).flatMap { parts in
            Int(parts[0]).map { Double($0) / (parts[1] == "h" ? 3_600 : parts[1] == "min" ? 60 : 1) }
        }
        let rates = [own, app.map { Double($0.pushes) / Double($0.intervalSeconds) }].compactMap(\.self).filter {
            $0 > 0
        }
        guard let rate = rates.min() else { return "There is no limit, so it takes as long as the services need." }
        let seconds = Int64((Double(devices) / rate).rounded(.up))
        let limited: HTML = own == nil || rate < (own ?? 0) ? " at the pace of the app" : ""
        return
            "\(TextFormat.devices(devices)) take \(seconds <= 1 ? "a second" : TextFormat.span(seconds: seconds))\(limited)."
    }
}
