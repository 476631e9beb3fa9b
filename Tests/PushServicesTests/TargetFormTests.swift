import Base
import TestSupport
import Testing

@testable import PushServices

@Suite("Device tokens of APNs")
struct DeviceTokenTests {
    private let form = APNs().target

    @Test("sentences call a target what its service calls it, and never a registration id twice")
    func nouns() {
        let services: [any PushService] = [APNs(), FCM(), Getui(), JPush(), RongCloud()]
        #expect(
            services.map(\.target.aShortNoun) == [
                "a token", "a registration token", "a client id", "a registration id", "a user ID",
            ])
        #expect(
            services.map(\.target.listedNouns) == [
                "tokens or registration ids", "registration tokens or registration ids",
                "client ids or registration ids",
                "registration ids", "user IDs or registration ids",
            ])
        #expect(APNs().target.nothingListed == "neither a device token nor a registration id")
        #expect(
            JPush().target.nothingListed == "no registration id"
                && JPush().target.namesInExports == "registration id or alias")
        #expect(
            JPush().target.listedNoun == "registration id" && APNs().target.listedNoun == "token or registration id")
        #expect(([APNs(), FCM()] as [any PushService]).shortTargetNoun == "token")
        #expect(([Getui(), JPush()] as [any PushService]).shortTargetNoun == "id")
        #expect(([APNs(), RongCloud()] as [any PushService]).shortTargetNoun == "target")
        #expect(([APNs(), FCM(), APNs()] as [any PushService]).targetNouns == "device tokens or registration tokens")
    }

    @Test("hex of either case is read and kept in lower case")
    func reads() {
        #expect(form.target("0123456789abcdefABCDEF")?.text == "0123456789abcdefabcdef")
        #expect(form.target("AAbbCC00") == form.target("aabbcc00"))
    }

    @Test(
        "what cannot be a token is refused",
        arguments: [
            "", "abcdef0", "abcdef", "abcdef0g", "abcdef 0", " abcdef01", "<abcdef01>", "abcdef0\u{FF11}\u{FF11}",
            "abcdefé0", "@bcdef01",
            "`bcdef01", "/bcdef01", ":bcdef01", "Gbcdef01",
        ])
    func refuses(text: String) {
        #expect(form.target(text) == nil)
    }

    @Test("a long one is read as programs decorate it; two of them, another text and a short one are not")
    func decorated() {
        let (token, usual) = (
            String(repeating: "0123456789abcdef", count: 10), String(repeating: "0123456789abcdef", count: 4)
        )
        for text in [
            "<\(token)>", "'\(token)", "0x\(token)", "\u{A0}\(token)\u{A0}", "\" \(token)\"",
            "\u{FEFF}\(token.uppercased())",
        ] {
            #expect(form.target(text)?.text == token && form.shape(of: text) == nil && form.isCertain(text), "\(text)")
        }
        #expect(form.target("\(usual.prefix(20)) \(usual.dropFirst(20))")?.text == usual)
        for text in [
            "\(usual) \(usual)", "\(token.prefix(20)) \(token.dropFirst(20))", "{\(token)}", "\(token);", "<\(token)0>",
            "x\(token)",
        ] {
            #expect(form.target(text) == nil, "\(text)")
        }
    }

    @Test("its length is not fixed, within limits")
    func lengths() {
        for count in [8, 64, 160, 512] { #expect(form.target(String(repeating: "a", count: count)) != nil) }
        for count in [7, 9, 63, 511, 513, 514] { #expect(form.target(String(repeating: "a", count: count)) == nil) }
    }

    @Test("what is wrong with one is said, and never shows it whole")
    func flaws() {
        let long = String(repeating: "ab", count: 300)
        #expect(form.flaw(of: "abcdef01") == nil)
        #expect(form.flaw(of: "") == "the device token is blank")
        #expect(form.flaw(of: "abcdef") == "a device token of 6 digits is too short")
        #expect(form.flaw(of: long) == "a device token of 600 digits is too long")
        #expect(
            form.flaw(of: "abcdefabc")
                == "'abcd…fabc' cannot be a device token, as its 9 digits are no even number: it is cut off, or one is too many"
        )
        #expect(
            form.flaw(of: "my token x")
                == "'my t…en x' cannot be a device token, as it holds more than hex digits (0-9, a-f)")
    }

    @Test(
        "what a text seems to be instead",
        arguments: [
            ("<aabbccdd aabbccdd>", TargetShape.brackets), ("7276…89f1", .shortened),
            ("0123abcd-0123-0123-0123-0123456789ab", .uuid),
            ("aabbccdd aabbccdd", .blanks), ("token=00112233445566778899aabbccddeeff", .surrounded),
            ("abcdefabc", .oddDigits),
            ("0xaabbccddaabbccdd", .prefix), ("7.28E+15", .exponent), ("NULL", .word), ("anna@example.com", .email),
            ("d1:APA91bHPRgkF", .fcm), ("q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=", .base64), ("abcdef", .tooShort),
            ("hello", .other),
        ])
    func shapes(text: String, shape: TargetShape) { #expect(form.shape(of: text) == shape) }

    @Test("tokens and blank texts have no shape, and other services are named")
    func words() {
        #expect(form.shape(of: "") == nil && form.shape(of: "AABBCCDD") == nil)
        #expect(form.clause(of: .fcm, length: 100) == "it is a token of FCM, which APNs does not know")
        #expect(form.clause(of: .tooShort, length: 6) == "its 6 digits are too few")
    }

    @Test("what editors check is what the form takes")
    func pattern() throws {
        let expression = try Regex(form.pattern)
        for text in ["abcdef01", "AAbbCC00", String(repeating: "a", count: 512)] {
            #expect(text.wholeMatch(of: expression) != nil)
        }
        for text in ["abcdef0", "abcdef0g", String(repeating: "a", count: 514)] {
            #expect(text.wholeMatch(of: expression) == nil)
        }
    }
}

/// Forms of future services, as far as they are known.
@Suite("Targets of other forms")
struct OtherTargetTests {
    private static let symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:"
    private let registrationToken = TargetForm(
        .text(ASCIISet(symbols), length: 100...4096), tellingLength: 100, noun: "registration token",
        writing: "as FCM gives it out",
        rule: "A registration token is copied whole", remedy: "Copy it whole.")
    private let registrationID = TargetForm(
        .text(.lettersAndDigits, length: 4...64), tellingLength: nil, noun: "registration id",
        writing: "as JPush gives it out",
        rule: "A registration id is copied whole", remedy: "Copy it whole.")

    @Test("they are kept as they are written, capitals and all")
    func kept() {
        #expect(registrationID.target("191E35f7e07")?.text == "191E35f7e07")
        #expect(registrationID.target("191e35f7e07") != registrationID.target("191E35f7e07"))
        for wrong in ["", "abc", "191e 35f7", "191e…5f7e", String(repeating: "a", count: 65)] {
            #expect(registrationID.target(wrong) == nil)
        }
        let text = Array("191E35f7e07".utf8)
        #expect(text.withUnsafeBufferPointer(registrationID.kept.contains))
        #expect(!text.withUnsafeBufferPointer(APNs().target.kept.contains))
    }

    @Test("flaws name them by their own noun, and hex digits are nothing to them")
    func words() {
        #expect(registrationID.flaw(of: "ab") == "a registration id of 2 characters is too short")
        #expect(
            registrationID.flaw(of: "user 42 a")
                == "'user…42 a' cannot be a registration id, as it holds characters that no registration id has")
        #expect(
            registrationID.shape(of: "anna@example.com") == .email
                && registrationID.shape(of: "aabbccdd aabbccdd") == .other)
        #expect(
            registrationID.shape(of: "ab") == .tooShort
                && registrationID.clause(of: .tooShort, length: 2) == "its 2 characters are too few"
        )
    }

    @Test("only what is nothing else is taken for one where something else should stand")
    func recognized() {
        let token = "d1:APA91b" + String(repeating: "xY_-", count: 30)
        #expect(registrationToken.isCertain(token) && registrationToken.recognizes(token))
        for text in ["'\(token)", "\"\(token)\"", "\u{A0}\(token)\u{200B}"] {
            #expect(registrationToken.target(text)?.text == token)
        }
        #expect(
            registrationToken.target("\(token.prefix(50)) \(token.dropFirst(50))") == nil
                && registrationID.target("'191e35f7e07") == nil)
        #expect(!registrationID.isCertain("191e35f7e07") && !registrationID.recognizes("191e35f7e07"))
    }
}

@Suite("Targets of fixed length: UUIDs in lower case")
struct FixedLengthTargetTests {
    private let form = OtherService.installationIDs
    private let id = "3f2a0c11-5b7e-4d09-8a66-0d1e2f3a9c01"

    @Test("sentences have their noun with its own article and plural, and an example")
    func words() {
        #expect(form.flaw(of: String(id.dropLast())) == "an installation id of 35 characters is too short")
        #expect(form.flaw(of: "who")?.hasPrefix("'…' cannot be an installation id, as") == true)
        #expect(form.nouns == "installation ids" && form.exampleStart == "3f2a…")
        let device = APNs().target
        #expect(device.aNoun == "a device token" && device.nouns == "device tokens" && device.exampleStart == "7276…")
    }

    @Test("a shape that the service has a clause for is looked for, though it is one of hex digits")
    func shape() {
        #expect(form.shape(of: id.uppercased()) == .uuid)
        #expect(
            form.clause(of: .uuid, length: 36) == "it has capital letters, and Otherpush's installation ids have none")
        #expect(form.shape(of: "0xaabbccddaabbccdd") == .other)
    }

    @Test("one in capitals, cut off or with a wrong letter is not shown whole either, and names are")
    func typos() {
        let typos = [
            id, id.uppercased(), String(id.dropLast()), String(id.dropFirst(4)), id + "0",
            id.replacing("5b7e", with: "5bxe"),
        ]
        let name = "abandoned-checkout-reminder-spring-2026"
        #expect(!form.resembles(name))
        for typo in typos { #expect(form.resembles(typo)) }
        for name in [
            "user42", "anna.maria@mail.example.com", "spring-sale-2026", "a text that is long but full of blanks",
        ] {
            #expect(!form.resembles(name))
        }
    }
}

@Suite("What is shown of texts that may hold targets")
struct TargetRedactionTests {
    private let token = String(repeating: "0123abcd", count: 8)

    @Test("one that lost a digit is shortened, too")
    func odd() {
        let odd = String(token.dropLast())
        #expect(TargetRedaction.certain(odd) == "0123…3abc" && TargetRedaction.possible(odd) == "0123…3abc")
        #expect(
            TargetRedaction.form(ofCertain: odd) == nil
                && TargetRedaction.form(ofCertain: token)?.noun == "device token")
    }

    @Test("a whole target is shortened where it can be nothing else")
    func certain() {
        #expect(TargetRedaction.certain(token) == "0123…abcd" && TargetRedaction.certain("20261124") == nil)
        #expect(TargetRedaction.possible("20261124") == "…" && TargetRedaction.possible("user42") == nil)
    }

    @Test("words hide the targets of every service that can be told from names, and those that lost a few characters")
    func everyService() {
        for form in PushServices.all.map(\.target) {
            guard let fewest = form.fewestHidden else { continue }
            let digits = Array(String(repeating: "0a1b2c3d4e5f", count: 400).prefix(form.lengths.upperBound))
            for length in [fewest, form.usualLength ?? fewest, digits.count] where length <= digits.count {
                let text = String(digits.prefix(length))
                #expect(
                    SecretText.withoutTokens("x '\(text)'") == "x '\(Target.redact(text))'", "\(form.noun) of \(length)"
                )
            }
        }
    }

    @Test("a cell is shortened before it is cut, in whatever writing it holds a target, and other cells stay")
    func cells() {
        let groups = stride(from: 0, to: 64, by: 8).map { String(token.dropFirst($0).prefix(8)) }
        for sign in [" ", "-", ":", "\u{A0}", "  "] {
            #expect(TargetRedaction.cell("<\(groups.joined(separator: sign))>", maximumBytes: 40) == "<0123…abcd>")
            #expect(
                TargetRedaction.cell("to \(groups.joined(separator: sign)), ok", maximumBytes: 40) == "to 0123…abcd, ok"
            )
        }
        #expect(
            TargetRedaction.cell("vip \(groups[0...3].joined(separator: " "))", maximumBytes: 40) == "vip 0123…abcd")
        let base64 = "Dx4tPEtaaXiHlqW0w9Lh8AEjRWeJq83v/ty6mHZUMhA"
        #expect(TargetRedaction.cell(base64 + "=", maximumBytes: 40) == "Dx4t…MhA=")
        #expect(TargetRedaction.cell("\(base64);x", maximumBytes: 40) == "Dx4t…UMhA;x")
        let fcm = "dGhpc2lzYXRlc3Q6QVBB:APA91bHqX3"
        #expect(TargetRedaction.cell(fcm + String(repeating: "x", count: 120), maximumBytes: 40) == "dGhp…xxxx")
        #expect(TargetRedaction.cell("\(fcm);vip", maximumBytes: 40) == "dGhp…HqX3;vip")
        for other in [
            "2026-11-24 10:00:00", "3.2.0", "0123abcd-0123-0123-0123-0123456789ab", "anna.maria@mail.example.com",
            "+49 151 2345 6789",
            "abandoned-checkout-reminder-spring-2026-newsletter", "https://cdn.example.com/images/spring/hero.jpg",
            "dead beef cafe",
            "2026-11-24 2026-11-25 2026-11-26 2026-11-27", "191e35f7e07 191e35f7e08 191e35f7e09",
            "1a0018970a8d0000001 1a0018970a8d0000002",
        ] { #expect(TargetRedaction.cell(other, maximumBytes: 60) == other) }
        #expect(TargetRedaction.cell("a\u{1B}[2J" + String(repeating: "é", count: 40), maximumBytes: 9) == "a [2Jéé")
    }

    @Test("targets in a text are shortened, and nothing else is")
    func inside() {
        #expect(SecretText.withoutTokens("x \(token), é \(token.uppercased())!") == "x 0123…abcd, é 0123…ABCD!")
        #expect(TargetRedaction.line("token=\(token);vip") == "token=0123…abcd;vip")
        #expect(
            TargetRedaction.line("user42") == "user42"
                && TargetRedaction.line("a line that is long and holds none") == "a li…none")
    }
}
