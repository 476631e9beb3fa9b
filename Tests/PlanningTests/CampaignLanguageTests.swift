import Foundation
import TestCommands
import Testing

@Suite("The campaign language")
struct CampaignLanguageTests {
    /// Every key of the language, as it was agreed.
    private static let everything = #"""
        name: spring-sale                   # [a-z0-9-], at most 64
        app: shop
        description: Spring sale, everyone who likes discounts

        audience:
          devices: exports/devices.csv      # path, glob or list; .csv .tsv .json .jsonl, each also .gz
          tags: [discount, daily]           # any-match: devices with at least one of these
          aliases: [user42, user77]         # every device of these aliases, at most ten each
          registration_ids: [191e35f7e07]   # exactly these devices
          # everyone: true                  # broadcast; stands alone
          where:                            # all of these must hold
            language: [en, de]
            app_version: ">= 3.2.0"
            last_active: within 30 days
          exclude:                          # none of these may hold
            tags: [unsubscribed]
            aliases: [user13]
            registration_ids: []
            devices: suppressed.csv         # tokens or registration ids listed there

        content:
          title: "Hi {{ first_name | default: 'there' }}"
          subtitle: Only until Sunday
          body: "{{ store }} has 20 % off everything."
          sound: default
          badge: 1                          # a number; APNs cannot add: "+1" is an error that says so
          category: SALE
          thread: spring
          image: https://cdn.example.com/spring.jpg   # https only; sets mutable-content
          link: shop://sale                 # own keys, beside aps
          data: {campaign: spring-sale}
          wake_app: false                   # content-available beside a visible push
          # silent: true                    # background push: no title, body, sound or badge
          # payload: {...}                  # the whole payload by hand, instead of all of the above
          languages:                        # chosen by the device's language: zh-Hans-CN, then zh-Hans, then zh, then the text above
            zh-Hans: {title: "...", body: "..."}

        variants:                           # decided by a hash of campaign and device: the same device always lands in the same one
          short: {share: 45, content: {body: "20 % off."}}
          long:  {share: 45}
          holdout: {share: 10}              # these devices get nothing, and the report compares

        delivery:
          pace: 5000/s                      # or 300000/min
          expires: 4h                       # or a date and time; 0 = deliver now or never
          priority: high                    # high 10, normal 5, low 1
          collapse: spring-sale             # apns-collapse-id, at most 64 bytes
          unknown: resend                   # resend | skip: a push whose answer was lost (see outcomes)
          stop_when: {invalid_token: 20%, rejected: 1%, after: 1000}   # stop the run when a share is passed, judged after so many answers

        schedule:
          at: 2026-12-01 09:00              # without it: when someone runs `volley send`
          timezone: recipient               # a zone name, or recipient: each at 09:00 where they are
          fallback_timezone: Europe/Berlin  # required with recipient
          quiet_hours: 21:00-08:00          # held until they end
          repeat: "0 9 * * mon,thu"         # cron, in the schedule's zone
          late: skip after 2h               # what to do when the machine was off at the time

        """#

    @Test("a campaign that uses all of it is fine; its Chinese text lacks things, which are warnings")
    func isFine() throws {
        let columns =
            "device_token,registration_id,alias,tags,language,timezone,last_active,registered_at,first_name,store,app_version"
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: exports/devices.csv")
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("exports"), withIntermediateDirectories: true)
        try folder.write("exports/devices.csv", columns + "\n")
        try folder.write("suppressed.csv", ProjectFolder.token(2) + "\n")
        try folder.write("campaign.yaml", Self.everything)
        let checked = try folder.check()
        #expect(
            checked.errors.split(separator: "\n").allSatisfy {
                $0.contains(": warning: ") && $0.contains("-translated]")
            })
        #expect(checked.output == "campaign.yaml: fine\n" && checked.status == 0, "\(checked.errors)")
    }
}
