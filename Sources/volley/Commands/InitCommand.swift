import Base
import Campaigns
import Glibc
public import PushServices

/// `volley init`: writes a folder that works with the simulator without changes.
public enum InitCommand {
    /// Writes volley.yaml, a campaign and a device export. Overwrites nothing: if one of them
    /// exists, none is written.
    /// - Parameter service: the service of the app in volley.yaml.
    public static func run(
        folder: String, service: any PushService = PushServices.standard, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let starter = StarterProject(service: service)
        let files = [
            ("volley.yaml", starter.project), ("welcome.yaml", starter.campaign),
            ("exports/devices.csv", starter.export()),
            (".volley/campaign.schema.json", CampaignSchema.document.indentedText + "\n"),
            (".volley/project.schema.json", ProjectSchema.document.indentedText + "\n"),
        ].map { (folder == "." ? $0.0 : "\(folder)/\($0.0)", $0.1) }
        let present = files.map(\.0).filter { FilePaths.exists($0) }
        guard present.isEmpty else {
            let are = TextFormat.plural(present.count, one: "is", many: "are")
            throw Diagnostic(
                "\(present.joined(separator: ", ")) \(are) there already, so nothing was written",
                remedy: "Choose another folder: volley init DIR.")
        }
        try write(files)
        let answer = JSONValue.object(pairs: [("files", .array(files.map { .string($0.0) }))])
        let campaign = files[1].0
        let text = """
            \(files.map { "wrote \($0.0)" }.joined(separator: "\n"))

            Now try:
              volley preview \(campaign)
              volley send \(campaign)
            Editors with a YAML language server complete keys and mark mistakes in these files.
            """
        return console.answer(
            options.isJSON ? answer.indentedText : text, done: "Volley wrote \(files.map(\.0).joined(separator: ", "))."
        )
    }

    /// Writes all files, or leaves nothing: after half a project, another `volley init` would
    /// refuse.
    private static func write(_ files: [(path: String, text: String)]) throws(Diagnostic) {
        var folders: [String] = [], written: [String] = []
        do throws(Diagnostic) {
            for (path, text) in files {
                if path.contains("/") { folders += try FilePaths.makeFolder(FilePaths.folder(of: path)) }
                try FilePaths.create(path, bytes: Array(text.utf8))
                written.append(path)
            }
        } catch {
            written.forEach { unlink($0) }
            FilePaths.removeFolders(folders)
            throw error
        }
    }
}

/// The files that `volley init` writes.
struct StarterProject {
    let service: any PushService

    /// The export's name for the targets: it must differ from other columns that every export may
    /// have.
    private var targetColumn: String {
        let name = service.target.noun.replacing(" ", with: "_").lowercased()
        return ExportColumns.Standard(rawValue: name) == nil ? name : service.target.column
    }

    /// Slow enough to watch, and no faster than the service accepts. An app's pace counts devices.
    private var pace: String {
        let slow = Pace(pushes: 500, intervalSeconds: 1)
        guard let usual = service.usualPace, usual.isLimit, !service.batching.isPacedByCalls,
            usual.pace.perSecond < slow.perSecond
        else { return slow.description }
        return usual.pace.description
    }

    var project: String {
        let account = service.account, key = account.credentials[0], start = service.target.exampleStart
        let environments = (account.environments.choices.map(\.name) + ["simulator"]).joined(separator: " | ")
        var app: [(line: String, comment: String)] = []
        if service.name != PushServices.standard.name { app.append(("service: \(service.name)", service.introduction)) }
        app += [
            ("\(account.topic.key): \(account.topic.example)", account.topic.whatToAdd),
            ("environment: simulator", environments),
        ]
        app += key.fieldsBeside.map { ("# \($0.key): \($0.example)", $0.whatToAdd) }
        app += [
            ("# \(key.example)", key.origin),
            ("devices: exports/devices.csv", "the device export, unless a campaign names another"), ("columns:", ""),
            ("  token: \(targetColumn)", "the export's names for what Volley needs"),
            ("pace: \(pace)", "never faster than this"),
            ("# approval: required", "nothing is sent without approval: volley approve"),
            // In quotes: a token of only digits would be a number.
            ("# \(service.testDevicesExample.replacing(start, with: "\"\(start)\""))", "for volley send --test"),
            (
                "# proxy: http://proxy.example.com:3128",
                "none: straight to \(service.displayName); without this key https_proxy decides"
            ),
        ]
        return """
            # yaml-language-server: $schema=.volley/project.schema.json
            # Written once, by the people who run the app. Campaigns name the app; everything about it is here.
            runs: runs                        # folder of run files: one per campaign that was sent

            apps:
              shop:
            \(app.map { Self.aligned("    " + $0.line, $0.comment) }.joined(separator: "\n"))

            """
    }

    /// A line whose comment is below the others, if there is room for it.
    private static func aligned(_ line: String, _ comment: String) -> String {
        guard !comment.isEmpty else { return line }
        return line + String(repeating: " ", count: line.count > 32 ? 3 : 34 - line.count) + "# \(comment)"
    }

    /// Without keys that the service does not have, or not for all phones.
    var campaign: String {
        let rules = service.rules
        let hasExpiry = rules.deliveryKeys.contains(.expires) && !rules.deliveryLosses.contains { $0.key == .expires }
        let lacking = [
            rules.contentKeys.contains(.sound) ? nil : "  sound: default\n",
            hasExpiry ? nil : Self.expiry,
        ]
        return lacking.compactMap(\.self).reduce(Self.fullCampaign) { $0.replacing($1, with: "") }
    }

    private static let expiry = "  expires: 4h                     # nobody wants it tomorrow\n"

    private static let fullCampaign = """
        # yaml-language-server: $schema=.volley/campaign.schema.json
        # A campaign. See who would get it:  volley preview welcome.yaml
        # Send it:                           volley send welcome.yaml
        name: welcome
        app: shop
        description: Everyone who likes discounts or news

        audience:
          tags: [discount, news]          # devices with at least one of these
          where:
            last_active: present          # devices that have opened the app
          exclude:
            tags: [unsubscribed]

        content:
          title: "Hi {{ first_name | default: 'there' }}"
          body: 20 % off everything until Sunday.
          sound: default
          link: shop://sale
          languages:                      # by the device's language; devices with none of these get the text above
            de: {title: "Hallo {{ first_name | default: 'zusammen' }}", body: 20 % auf alles bis Sonntag.}
            zh-Hans: {title: "{{ first_name | default: '你好' }}", body: 周日前全场八折。}

        variants:                         # which text works better? The same device always lands in the same one
          usual: {share: 45}
          short: {share: 45, content: {body: 20 % off., languages: {de: {body: 20 % auf alles.}, zh-Hans: {body: 全场八折。}}}}
          holdout: {share: 10}            # these get nothing, to compare with

        delivery:
        \(expiry)  track: true                     # each push says which it is, and web links say where a visit came from

        """

    /// A small export: 300 devices, the same every time.
    func export() -> String {
        let names = ["Ada", "Ben", "", "Chloé", "Dmitri", "Emma", "", "Farid", "小明", "Greta"]
        let tags = ["discount", "news", "discount;news", "sports", "news;unsubscribed", "sports;discount", ""]
        let languages = ["en", "de", "fr", "zh-Hans"]
        var lines = ["\(targetColumn),registration_id,alias,tags,language,last_active,first_name"]
        var state: UInt64 = 0x5DEE_CE66
        func next() -> UInt64 {
            // A linear congruential generator (Knuth, MMIX): good enough to look random.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
        for row in 0..<300 {
            let token = target(next)
            let day = civilDate(fromDays: daysFromCivil(year: 2026, month: 1, day: 1) + Int(next() >> 33) % 300)
            let date = Timestamp(
                epochSeconds: Int64(daysFromCivil(year: day.year, month: day.month, day: day.day)) * 86400
            ).description
                .prefix(10)
            lines.append(
                [
                    token, Self.hex(next() >> 20, digits: 11), "user\(row / 2 + 1)",
                    tags[Int(next() >> 33) % tags.count],
                    languages[Int(next() >> 33) % languages.count],
                    String(date), names[Int(next() >> 33) % names.count],
                ].joined(separator: ","))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A target that looks like one of the service, and that no device has.
    private func target(_ next: () -> UInt64) -> String {
        if case .hex(let digits) = service.target.notation {
            return (0..<min(64, digits.upperBound) / 16).map { _ in Self.hex(next(), digits: 16) }.joined()
        }
        let characters = (UInt8.min...UInt8.max).filter {
            ASCIISet.lettersAndDigits.contains($0) && service.target.characters.contains($0)
        }
        let length = (service.target.tellingLength ?? service.target.lengths.lowerBound) + 42
        return String(
            decoding: (0..<min(length, service.target.lengths.upperBound)).map { _ in
                characters[Int(next() >> 33) % characters.count]
            },
            as: UTF8.self)
    }

    private static func hex(_ number: UInt64, digits: Int) -> String {
        String(TextFormat.hex(number, digits: digits).suffix(digits))
    }
}

/// `volley schema`: prints the schema with which editors complete and check campaigns as you write.
public enum SchemaCommand {
    /// The kind of file that a schema describes.
    public enum Subject: Sendable {
        /// Campaign files.
        case campaign
        /// volley.yaml.
        case project
    }

    /// Prints a JSON Schema, draft 2020-12.
    public static func run(_ subject: Subject, console: Console) throws -> ExitStatus {
        try console.out(subject == .campaign ? CampaignSchema.document : ProjectSchema.document)
        return .done
    }
}
