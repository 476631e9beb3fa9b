import Base
import PushServices
import Runs
import Testing

@testable import Commands

/// `push` speaks of the service of the app.
@Suite("push in the words of the app's service")
struct PushWordsTests {
    @Test("what a header or a badge cannot be is said of the service that is passed in")
    func values() {
        let error = #expect(throws: Diagnostic.self) { try HeaderText.check(" x", of: "--topic", for: Toypush()) }
        #expect(error?.message.hasSuffix("which Toypush does not take") == true)
        let badge = #expect(throws: Diagnostic.self) { try PushCommand.Message.badge("+1", for: Toypush()) }
        #expect(badge?.message.hasPrefix("Toypush cannot add to a badge") == true)
    }

    @Test("what the service lacks is refused, and what it has is not")
    func options() throws {
        func refusal(_ set: (inout PushCommand.Message) -> Void) -> String? {
            var message = PushCommand.Message()
            set(&message)
            do throws(Diagnostic) { try message.check(for: Toypush()) } catch {
                return "\(error.message). \(error.remedy ?? "")"
            }
            return nil
        }
        #expect(refusal { $0.subtitle = "Only today" } == "Toypush has no 'subtitle'. Omit --subtitle.")
        #expect(refusal { $0.priorityName = "low" } == "Toypush has no 'priority'. Omit --priority.")
        #expect(
            refusal { $0.pushTypeName = "voip" }
                == "Toypush has no type 'voip'. Omit --push-type, or write one of: alert, background.")
        #expect(
            refusal { ($0.title, $0.badge, $0.expires, $0.pushTypeName) = ("Hello", "3", "1h", "background") } == nil)
        var message = PushCommand.Message()
        (message.subtitle, message.priorityName, message.pushTypeName) = ("Only today", "low", "voip")
        try message.check(for: APNs())
    }

    @Test("what a key lacks is called by the service's fields")
    func key() {
        var target = PushCommand.Target()
        target.keyFile = "key.p8"
        let number = #expect(throws: Diagnostic.self) { try target.key(of: Toypush()) }
        #expect(number?.message == "the signing_key's number is missing")
        #expect(number?.remedy == "Add --key-id, the six characters that Toypush shows next to it.")
        target.keyID = "ABC123"
        let account = #expect(throws: Diagnostic.self) { try target.key(of: Toypush()) }
        #expect(account?.message == "the signing_key's account is missing")
        let team = #expect(throws: Diagnostic.self) { try target.key(of: APNs()) }
        #expect(team?.message == "the key's team is missing")
    }

    @Test("a certificate is refused by a service that takes none, and a key with everything is one of its form")
    func forms() throws {
        var target = PushCommand.Target()
        target.certificateFile = "/push.p12"
        let refusal = #expect(throws: Diagnostic.self) { try target.certificate(of: Toypush()) }
        #expect(refusal?.message == "--certificate is not for Toypush, which takes a signing_key")
        #expect(
            try target.certificate(of: APNs()) == FrozenCredential(form: "certificate", values: ["file": "/push.p12"]))
        (target.keyFile, target.keyID, target.teamID) = ("/key.p8", "ABC123", "TOYACCT1")
        #expect(
            try target.key(of: Toypush())
                == FrozenCredential(
                    form: "signing_key", values: ["file": "/key.p8", "number": "ABC123", "account": "TOYACCT1"]))
    }

    @Test("pushes without an answer keep their id for a service that recognizes it")
    func unknown() {
        #expect(
            ResumeCommand.warning(unknown: 1, .resend, APNs())
                == "1 device is unknown: its push went out, or was about to, and no answer was recorded. They are sent again under the same "
                + "apns-id, so that some may show twice (delivery.unknown: resend).")
        #expect(
            ResumeCommand.warning(unknown: 2, .resend, Toypush()).contains(
                "They are sent again, so that some may show twice"))
        #expect(
            ResumeCommand.warning(unknown: 2, .skip, APNs()).hasSuffix(
                "They are not sent again (delivery.unknown: skip)."))
    }

    @Test("pushes that their service recognizes are not announced as a risk")
    func recognized() {
        #expect(
            ResumeCommand.note(recognized: 1, Toypush())
                == "1 device may have its push already. Volley sends it again, and Toypush delivers it once: it recognizes it by name."
        )
        #expect(
            ResumeCommand.note(recognized: 1200, Toypush())
                == "1,200 devices may have their pushes already. Volley sends them again, and Toypush delivers them once: it recognizes them by name."
        )
    }
}
