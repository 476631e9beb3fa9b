import Base
import Testing

@testable import Campaigns

@Suite("Mistakes in the delivery")
struct MistakesInDeliveryTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    @Test("track is true, false, or silent")
    func track() throws {
        func pushes(_ word: String) throws -> TrackedPushes? {
            try readPart("delivery: {track: \(word)}\n").0.delivery.tracking
        }
        #expect(try pushes("true") == .visible && pushes("silent") == .silentToo && pushes("false") == nil)
        #expect(try readPart("delivery: {track: true}\n").0.delivery.trackingPosition?.column == 12)
        #expect(try readPart("delivery: {pace: 10/s}\n").0.delivery.trackingPosition == nil)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "track in another word", "delivery: {track: always}\n",
            "campaign.yaml:1:19: 'track' must be true, false or silent, not 'always'. Write track: true, or track: silent to count silent pushes, too."
        ),
        MistakeCase(
            "track in other letters, and a word for more", "delivery: {track: Silent}\n",
            "campaign.yaml:1:19: 'track' must be true, false or silent, not 'Silent'. Write track: silent."),
        MistakeCase(
            "priority high for a silent push",
            "content: {silent: true}\ndelivery: {priority: high}\n",
            """
            campaign.yaml:2:22: a silent push must go out with priority normal (5): APNs refuses any other for background pushes. Write priority: normal, or remove the key.
            """),
        MistakeCase(
            "priority low for a silent push",
            "content: {silent: true}\ndelivery: {priority: low}\n",
            """
            campaign.yaml:2:22: a silent push must go out with priority normal (5): APNs refuses any other for background pushes. Write priority: normal, or remove the key.
            """),
        MistakeCase(
            "a misspelt priority",
            "delivery: {priority: hihg}\n",
            "campaign.yaml:1:22: 'priority' must be high, normal or low, not 'hihg'. Did you mean 'high'?"),
        MistakeCase(
            "a priority as a number",
            "delivery: {priority: 10}\n",
            "campaign.yaml:1:22: 'priority' is written as a word. Write priority: high."),
        MistakeCase(
            "an unknown policy",
            "delivery: {unknown: retry}\n",
            "campaign.yaml:1:21: 'unknown' must be resend or skip, not 'retry'. For example: unknown: resend."),
        MistakeCase(
            "a collapse id of 65 bytes",
            "delivery: {collapse: ééééééééééééééééééééééééééééééééa}\n",
            """
            campaign.yaml:1:22: 'collapse' has 65 bytes, and APNs takes at most 64. Shorten it; letters beyond a-z count as two to four bytes each.
            """),
        MistakeCase(
            "a collapse id with a template",
            "delivery: {collapse: \"{{ store }}\"}\n",
            """
            campaign.yaml:1:22: 'collapse' cannot hold a template: it is the same for every device. Write a fixed name, for example: collapse: spring-sale.
            """),
        MistakeCase(
            "a collapse id of two lines",
            "delivery: {collapse: \"a\\nb\"}\n",
            """
            campaign.yaml:1:22: 'collapse' must be a single line without control characters. Write a short name, for example: collapse: spring-sale.
            """),
        MistakeCase(
            "a collapse id with a control character beyond ASCII",
            "delivery: {collapse: \"a\\x85b\"}\n",
            """
            campaign.yaml:1:22: 'collapse' must be a single line without control characters. Write a short name, for example: collapse: spring-sale.
            """),
        MistakeCase(
            "a collapse id that begins with a space",
            "delivery: {collapse: \" spring\"}\n",
            "campaign.yaml:1:22: 'collapse' begins or ends with a space, which APNs does not take. Write collapse: spring."
        ),
        MistakeCase(
            "a collapse id that ends with a tab, and would need quotes",
            "delivery: {collapse: \"a: b\\t\"}\n",
            "campaign.yaml:1:22: 'collapse' begins or ends with a space, which APNs does not take. Write it without the spaces around it."
        ),
        MistakeCase(
            "a pace of 0",
            "delivery:\n  pace: 0/s\n",
            "campaign.yaml:2:9: a pace of 0 would never send anything. Write at least 1, for example: 100/s."),
        MistakeCase(
            "a pace without unit",
            "delivery:\n  pace: 5000\n",
            "campaign.yaml:2:9: '5000' does not say per what. Write 5000/s, 5000/min or 5000/h."),
        MistakeCase(
            "a pace with a comma",
            "delivery:\n  pace: \"5,000/s\"\n",
            """
            campaign.yaml:2:9: the number in '5,000/s' must be digits only. Write it without separators, for example: 5000/s.
            """),
        MistakeCase(
            "a pace with underscores",
            "delivery:\n  pace: 5_000/s\n",
            """
            campaign.yaml:2:9: the number in '5_000/s' must be digits only. Write it without separators, for example: 5000/s.
            """),
        MistakeCase(
            "a pace with a k",
            "delivery:\n  pace: 5k/s\n",
            "campaign.yaml:2:9: '5k/s' is not a pace. Write it like one of these: 5000/s, 300000/min, 100/h."),
        MistakeCase(
            "a pace per minute as m",
            "delivery:\n  pace: 300/m\n",
            "campaign.yaml:2:9: the unit of '300/m' is not known. Write 300/s, 300/min or 300/h."),
        MistakeCase(
            "a pace per day",
            "delivery:\n  pace: 300/d\n",
            "campaign.yaml:2:9: '300/d' is per day, but a pace is per second, minute or hour. Write 12/h."),
        MistakeCase(
            "a pace in words",
            "delivery:\n  pace: fast\n",
            "campaign.yaml:2:9: 'fast' is not a pace. Write it like one of these: 5000/s, 300000/min, 100/h."),
        MistakeCase(
            "a pace below 0",
            "delivery:\n  pace: -5/s\n",
            "campaign.yaml:2:9: '-5/s' is not a pace. Write it like one of these: 5000/s, 300000/min, 100/h."),
        MistakeCase(
            "a pace too fast",
            "delivery:\n  pace: 99999999999/s\n",
            """
            campaign.yaml:2:9: '99999999999/s' is faster than anything Volley can do. Write at most 1000000000, or leave 'pace' out.
            """),
        MistakeCase(
            "a pace with two strokes",
            "delivery:\n  pace: 5/s/s\n",
            "campaign.yaml:2:9: '5/s/s' is not a pace. Write it like one of these: 5000/s, 300000/min, 100/h."),
        MistakeCase(
            "a pace that is empty",
            "delivery:\n  pace: \n",
            "campaign.yaml:2:8: 'pace' has no value. For example: pace: 5000/s."),
        MistakeCase(
            "a pace that is a list",
            "delivery:\n  pace: [5/s]\n",
            "campaign.yaml:2:9: 'pace' must be a text, not a list. For example: pace: 5000/s."),
        MistakeCase(
            "an expiry in the past",
            "delivery:\n  expires: 2026-01-01 09:00\n",
            """
            campaign.yaml:2:12: the expiry 2026-01-01T09:00:00Z is in the past. Write a later moment, or a time from the start such as 4h.
            """),
        MistakeCase(
            "an expiry with the dashes of a word processor",
            "delivery:\n  expires: 2026–12–01 18:00 +01:00\n",
            """
            campaign.yaml:2:12: '2026–12–01 18:00 +01:00' has a dash ('–') instead of a hyphen. Write expires: 2026-12-01 18:00 +01:00, with the hyphen of the keyboard.
            """),
        MistakeCase(
            "an expiry without a time",
            "delivery:\n  expires: 2026-12-01\n",
            """
            campaign.yaml:2:12: the date '2026-12-01' lacks a time. For example: expires: 2026-12-01 18:00 +00:00, or 2026-12-01 18:00 +02:00.
            """),
        MistakeCase(
            "an expiry with an hour of one digit",
            "delivery:\n  expires: 2026-12-01 9:00\n",
            """
            campaign.yaml:2:12: '2026-12-01 9:00' is not a date and time. Write expires: 2026-12-01 09:00 +00:00, with the offset from UTC of the clock that you mean.
            """),
        MistakeCase(
            "an expiry on no day",
            "delivery:\n  expires: 2026-02-30 09:00\n",
            """
            campaign.yaml:2:12: '2026-02-30 09:00' is not a date and time. Write it like 2026-12-01 09:00 +00:00 or 2026-12-01 09:00 +02:00.
            """),
        MistakeCase(
            "an expiry without a unit",
            "delivery:\n  expires: 3600\n",
            "campaign.yaml:2:12: '3600' lacks a unit. Write 3600s, 3600min, 3600h or 3600d."),
        MistakeCase(
            "an expiry in months",
            "delivery:\n  expires: 1 month\n",
            """
            campaign.yaml:2:12: the unit of '1 month' can be misread. Write min for minutes; write months in days, for example: 30d.
            """),
        MistakeCase(
            "an expiry in m",
            "delivery:\n  expires: 90m\n",
            """
            campaign.yaml:2:12: the unit of '90m' can be misread. Write min for minutes; write months in days, for example: 30d.
            """),
        MistakeCase(
            "an expiry with a fraction",
            "delivery:\n  expires: 1.5h\n",
            """
            campaign.yaml:2:12: '1.5h' is not a whole number of its unit. Write 90min.
            """),
        MistakeCase(
            "an expiry in words",
            "delivery:\n  expires: soon\n",
            "campaign.yaml:2:12: 'soon' is neither a length of time nor a date. Write for example 4h or 2d, counted from the start, or a moment such as 2026-12-01 18:00 +01:00."
        ),
        MistakeCase(
            "an expiry below 0",
            "delivery:\n  expires: -4h\n",
            "campaign.yaml:2:12: '-4h' is neither a length of time nor a date. Write for example 4h or 2d, counted from the start, or a moment such as 2026-12-01 18:00 +01:00."
        ),
        MistakeCase(
            "an expiry too far away",
            "delivery:\n  expires: 9999999w\n",
            "campaign.yaml:2:12: '9999999w' is too long. Write a shorter time."),
        MistakeCase(
            "an expiry as a list",
            "delivery:\n  expires: [4h]\n",
            "campaign.yaml:2:12: 'expires' must be a text, not a list. For example: expires: 4h."),
        MistakeCase(
            "a limit without a percent sign",
            "delivery:\n  stop_when: {rejected: 5}\n",
            """
            campaign.yaml:2:25: '5' lacks a percent sign. Write 5%.
            """),
        MistakeCase(
            "a limit as a fraction",
            "delivery:\n  stop_when: {rejected: 0.2}\n",
            """
            campaign.yaml:2:25: '0.2' may mean 20% or 0.2%. Write it with a percent sign, for example: 20%.
            """),
        MistakeCase(
            "a limit of 0%",
            "delivery:\n  stop_when: {failed: 0%}\n",
            """
            campaign.yaml:2:23: a limit of '0%' would stop the run at the first such answer, and some are normal in any list. Write a share above 0%, for example: 1%.
            """),
        MistakeCase(
            "a limit of 0",
            "delivery:\n  stop_when: {failed: 0}\n",
            """
            campaign.yaml:2:23: '0' is not a percentage. Write it with a percent sign, for example: 20% or 0.5%.
            """),
        MistakeCase(
            "a limit above 100%",
            "delivery:\n  stop_when: {failed: 101%}\n",
            """
            campaign.yaml:2:23: '101%' is more than 100%. Write a share above 0% and up to 100%.
            """),
        MistakeCase(
            "a limit in words",
            "delivery:\n  stop_when: {failed: half}\n",
            """
            campaign.yaml:2:23: 'half' is not a percentage. Write it with a percent sign, for example: 20% or 0.5%.
            """),
        MistakeCase(
            "a limit below 0",
            "delivery:\n  stop_when: {failed: -1%}\n",
            """
            campaign.yaml:2:23: '-1%' is not a percentage. Write it with a percent sign, for example: 20% or 0.5%.
            """),
        MistakeCase(
            "a limit with a comma",
            "delivery:\n  stop_when: {failed: \"0,5%\"}\n",
            """
            campaign.yaml:2:23: '0,5%' is not a percentage. Write it with a percent sign, for example: 20% or 0.5%.
            """),
        MistakeCase(
            "a limit that is a list",
            "delivery:\n  stop_when: {failed: [1%]}\n",
            """
            campaign.yaml:2:23: 'failed' must be a text, not a list. For example: failed: 5%.
            """),
        MistakeCase(
            "a limit for an outcome that has none",
            "delivery:\n  stop_when: {unknown: 1%}\n",
            """
            campaign.yaml:2:15: unknown key 'unknown' in 'stop_when'. No limit counts these pushes. Valid here: invalid_token, rejected, failed, after.
            """),
        MistakeCase(
            "a misspelt outcome",
            "delivery:\n  stop_when: {invalid_tokens: 1%}\n",
            """
            campaign.yaml:2:15: unknown key 'invalid_tokens' in 'stop_when'. Did you mean 'invalid_token'?
            """),
        MistakeCase(
            "limits in one text",
            "delivery:\n  stop_when: 20%\n",
            """
            campaign.yaml:2:14: 'stop_when' must be a group of keys, not '20%'. For example: stop_when: {invalid_token: 20%, rejected: 1%, after: 1000}.
            """),
        MistakeCase(
            "no limit at all",
            "delivery:\n  stop_when: {}\n",
            """
            campaign.yaml:2:14: 'stop_when' names no share, so it would never stop anything. For example: stop_when: {invalid_token: 20%, rejected: 1%, after: 1000}.
            """),
        MistakeCase(
            "only a number of answers",
            "delivery:\n  stop_when: {after: 100}\n",
            """
            campaign.yaml:2:14: 'stop_when' names no share, so it would never stop anything. For example: stop_when: {invalid_token: 20%, rejected: 1%, after: 1000}.
            """),
        MistakeCase(
            "judged after no answer",
            "delivery:\n  stop_when: {failed: 1%, after: 0}\n",
            """
            campaign.yaml:2:34: 'after' must be a whole number from 1 to 1000000000, not '0'. For example: after: 1000.
            """),
        MistakeCase(
            "judged after a share",
            "delivery:\n  stop_when: {failed: 1%, after: 10%}\n",
            """
            campaign.yaml:2:34: 'after' must be a whole number, not '10%'. For example: after: 1000.
            """),
        MistakeCase(
            "stop_when at the top level",
            "stop_when: {failed: 1%}\n",
            """
            campaign.yaml:1:1: unknown key 'stop_when' at the top level. It belongs in 'delivery'; check the indentation.
            """),
        MistakeCase(
            "less than one a second", "delivery: {pace: 0.5/s}\n",
            "campaign.yaml:1:18: '0.5/s' is not a whole number of pushes. Write 30/min."),
        MistakeCase(
            "a third of one a minute", "delivery: {pace: 0.25/min}\n",
            "campaign.yaml:1:18: '0.25/min' is not a whole number of pushes. Write 15/h."),
    ]
}
