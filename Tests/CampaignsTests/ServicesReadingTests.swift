import Base
import PushServices
import Testing

@testable import Campaigns

@Suite("An app with several services")
struct ServicesReadingTests {
    private func app(_ lines: String) -> String {
        "apps:\n  shop:\n" + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    }

    private let apns = "topic: com.example.shop\nenvironment: simulator\n"

    @Test("the keys of one service stand in the app, those of others below 'services', each with its account and pace")
    func accounts() throws {
        let text =
            apns
            + "pace: 900/s\nservices:\n  fcm: {project: shop-1a2b, environment: production, service_account: {env: FCM}, pace: 10/s}\n"
        let (project, warnings) = try readProject(app(text))
        let app = try #require(project.apps.first)
        #expect(warnings.isEmpty && app.services.map(\.service.name) == ["apns", "fcm"])
        #expect(app.services.map(\.topic.value) == ["com.example.shop", "shop-1a2b"])
        #expect(app.services.map(\.pace) == [nil, Pace(pushes: 10, intervalSeconds: 1)])
        #expect(app.services[1].credential?.values.mapValues(\.value) == ["env": "FCM"])
        #expect(app.services[1].position.description == "volley.yaml:7:7")
    }

    @Test("a pace below a service whose own pace counts calls is one of calls, and mistakes say so")
    func callPace() throws {
        func mistakes(_ pace: String, below service: String) throws -> String {
            let account = service == "jpush" ? "app_key: 0123456789abcdef01234567" : "project: shop-1a2b"
            let text = "services:\n  \(service): {\(account), environment: simulator, pace: \(pace)}\n"
            do { _ = try readProject(app(apns + text)) } catch { return "\(error)" }
            return ""
        }
        #expect(try mistakes("1200/min", below: "jpush").isEmpty)
        let calls = try mistakes("1200", below: "jpush")
        #expect(
            calls.contains(
                "Write 1200/s, 1200/min or 1200/h. Below 'jpush' a pace counts calls, each for up to 1,000 devices."),
            "\(calls)")
        #expect(try !mistakes("1200", below: "fcm").contains("calls"))
    }

    @Test("an app may have nothing but services below 'services', in the order of the file")
    func onlyBelow() throws {
        let project = try readProject(
            app(
                "services:\n  fcm: {project: shop-1a2b, environment: simulator}\n  apns: {topic: com.example.shop, environment: simulator}\n"
            )
        ).0
        #expect(project.apps.first?.services.map(\.service.name) == ["fcm", "apns"])
    }

    @Test("a service's switches are true or false, and change the service of that app alone")
    func switches() throws {
        func services(_ more: String) throws -> [any PushService] {
            let keys = "app_id: Jz1kA9xW2pQ7vB4n, environment: simulator"
            return try readProject(app("\(apns)services:\n  getui: {\(keys)\(more)}\n")).0.apps.first?.services.map(
                \.service) ?? []
        }
        #expect(try services(", lists: true").map(\.switchedOn) == [[], ["lists"]])
        #expect(try services(", lists: false").map(\.switchedOn) == [[], []])
        #expect(try services("").map(\.switchedOn) == [[], []])
        let found = found { () throws(Diagnostics) in
            try readProject(
                app("\(apns)services:\n  getui: {app_id: Jz1kA9xW2pQ7vB4n, environment: simulator, lists: often}\n"))
        }
        #expect(found.contains("'lists' must be true or false"))
    }

    @Test("an app may name its Android app in Firebase, which is no part of the account")
    func countedApp() throws {
        func app(_ more: String) -> String {
            self.app("service: fcm\nproject: shop-1a2b\nenvironment: simulator\n\(more)")
        }
        let id = "1:1234567890:android:0a1b2c3d"
        let service = try #require(try readProject(app("android_app: \(id)\n")).0.apps.first?.services.first)
        #expect(service.countedApp?.value == id && service.credential == nil)
        #expect(try readProject(app("")).0.apps.first?.services.first?.countedApp == nil)
        #expect(
            found { () throws(Diagnostics) in try readProject(app("android_app: com.example.shop\n")) }
                == "volley.yaml:6:18: 'com.example.shop' is not the App ID of an Android app in Firebase; those are like 1:1234567890:android:0a1b2c3d4e5f67890. Copy it from the Firebase console: Project settings, General, the Android app, App ID."
        )
    }

    @Test("columns say how a device is reached")
    func columns() throws {
        let project = try readProject(
            app(
                apns
                    + "services: {fcm: {project: shop-1a2b, environment: simulator}}\ncolumns:\n  service: {column: platform, map: {iOS: apns, android: fcm}}\n"
                    + "  fcm_token: google\n  prefer: [fcm, apns]\n")
        ).0
        let columns = try #require(project.apps.first?.columns)
        #expect(
            columns.service?.column.value == "platform" && columns.service?.map.map(\.cell.value) == ["iOS", "android"])
        #expect(
            columns.targets.mapValues(\.value) == ["fcm_token": "google"]
                && columns.preference.map(\.value) == ["fcm", "apns"])
    }

    @Test("an app with one service may name its targets by the service's own key, which exports may have, too")
    func onlyTargets() throws {
        let fcm = "service: fcm\nproject: shop-1a2b\nenvironment: simulator\n"
        let named = try #require(try readProject(app(fcm + "columns: {fcm_token: google}\n")).0.apps.first?.columns)
        #expect(named.candidates(for: .token) == ["google"] && named.targets.isEmpty)
        let unnamed = try #require(try readProject(app(fcm)).0.apps.first?.columns)
        #expect(unnamed.candidates(for: .token) == ["token", "device_token", "fcm_token"])
        #expect(
            found { () throws(Diagnostics) in try readProject(app(fcm + "columns: {token: a, fcm_token: b}\n")) }
                == "volley.yaml:6:25: 'fcm_token' and 'token' name the same column, and 'token' is in line 6. Remove one of them."
        )
    }

    @Test("a test device belongs to the service that it names, or to the first that has such targets")
    func testDevices() throws {
        let token = String(repeating: "a1", count: 32), id = "dPx3c9Qk2Lm0aBcDeFgHiJ",
            both = String(repeating: "a1", count: 11)
        let project = try readProject(
            app(
                apns
                    + "services: {fcm: {project: shop-1a2b, environment: simulator}}\ntest_devices: [\(token), \(id), {token: \(both), service: fcm}, {token: \(both)0a}]\n"
            )
        ).0
        #expect(project.apps.first?.testDevices.map(\.service) == [0, 1, 1, 0])
    }

    private static let cases = [
        MistakeCase(
            "a service that there is not", "services: {fmc: {}}",
            "volley.yaml:5:16: unknown key 'fmc' in 'services'. Did you mean 'fcm'?"),
        MistakeCase(
            "the same service twice", "services: {apns: {topic: a.b, environment: simulator}}",
            "volley.yaml:5:16: the app has the keys of APNs already. Keep them in the app itself, or below 'services'."),
        MistakeCase(
            "no services below 'services'", "services: {}",
            "volley.yaml:5:15: 'services' is empty. Name a service, \(serviceNames), or remove the key."),
        MistakeCase(
            "an account that is not complete", "services: {fcm: {environment: production}}",
            """
            volley.yaml:5:21: the key 'project' is missing in 'fcm'. Add it, for example: project: shop-1a2b.
            volley.yaml:5:21: 'fcm' of the app 'shop' has no 'service_account', and FCM answers no one without one. Add, for example: service_account: {file: keys/shop-fcm.json}.
            """),
        MistakeCase(
            "keys of another service", "services: {fcm: {topic: a.b, environment: simulator}}",
            "volley.yaml:5:22: unknown key 'topic' in 'fcm'. Volley calls it 'project'."),
        MistakeCase(
            "a column that chooses where there is nothing to choose", "columns: {service: platform}",
            "volley.yaml:5:15: 'service' in 'columns' chooses among the services of an app, and this app has one. Remove it, or add the others to the app: services: {…}."
        ),
        MistakeCase(
            "a column for a service that the app does not have", "columns: {fcm_token: google}",
            "volley.yaml:5:15: 'fcm_token' is the column of FCM, which this app does not have. Add FCM to the app's services, or remove the column."
        ),
        MistakeCase(
            "an account with a mistake says nothing about its column, nor about test devices",
            "services: {fcm: {project: shop-1a2b}}\ncolumns: {fcm_token: google, service: platform}\ntest_devices: [dPx3c9Qk2Lm0aBcDeFgHiJ]",
            "volley.yaml:5:21: the key 'environment' is missing in 'fcm'. Add it, for example: environment: production."
        ),
        MistakeCase(
            "nor does one by another of its names",
            "services: {极光: {app_key: 7d431e42dfa6a6d693ac2d04, environment: production}}\ncolumns: {jpush_id: id, prefer: [jpush]}",
            "volley.yaml:5:16: unknown key '极光' in 'services'. Did you mean 'jpush'?"),
        MistakeCase(
            "nor one that nobody knows", "services: {pigeon: {loft: 7}}\ncolumns: {jpush_id: id, prefer: [jpush]}",
            "volley.yaml:5:16: unknown key 'pigeon' in 'services'. Valid here: \(PushServices.all.map(\.name).joined(separator: ", "))."
        ),
        MistakeCase(
            "nor one that is no group", "services: [fcm]\ncolumns: {fcm_token: google}",
            "volley.yaml:5:15: 'services' must be a group of keys, not a list. For example: services: {…}."),
        MistakeCase(
            "an id of users as a column where a service pushes to users",
            "services: {rongcloud: {app_key: e0x9wycfx7flq, environment: simulator}}\ncolumns: {user_id: uid}",
            "volley.yaml:6:15: unknown key 'user_id' in 'columns'. For the user IDs that RongCloud pushes to, Volley calls it 'rongcloud_user_id'; for those that a campaign names, 'alias'."
        ),
        MistakeCase(
            "a cell of the map that stands for a service by another of its names",
            "services: {fcm: {project: shop-1a2b, environment: simulator}}\ncolumns: {service: {column: platform, map: {ios: apns, android: Firebase}}}",
            "volley.yaml:6:69: there is no service 'Firebase'. Did you mean 'fcm'?"),
        MistakeCase(
            "a map to a service that the app does not have",
            "services: {fcm: {project: shop-1a2b, environment: simulator}}\ncolumns: {service: {column: platform, map: {ios: apn, android: fcm}}}",
            "volley.yaml:6:54: there is no service 'apn'. Did you mean 'apns'?"),
        MistakeCase(
            "a cell that is in the map twice",
            "services: {fcm: {project: shop-1a2b, environment: simulator}}\ncolumns: {service: {column: platform, map: {ios: apns, IOS: fcm}}}",
            "volley.yaml:6:60: 'IOS' is already in line 6: capitals do not matter here. Keep one of them."),
        MistakeCase(
            "an order of services that the app does not have",
            "services: {fcm: {project: shop-1a2b, environment: simulator}}\ncolumns: {prefer: [fcm, jpush]}",
            "volley.yaml:6:29: JPush is not among the app's services. The app has apns and fcm."),
    ]

    @Test(
        "an app whose service is called by another of its names has that mistake alone",
        arguments: [
            ("jiguang", "app_key: 7d431e42dfa6a6d693ac2d04", "jpush"),
            ("极光推送", "app_key: 7d431e42dfa6a6d693ac2d04", "jpush"),
            ("融云", "app_key: e0x9wycfx7flq", "rongcloud"),
            ("个推", "app_id: Jz1kA9xW2pQ7vB4nL5sT8y\napp_key: K8sdW0qPz16JbcXy2mV5t4", "getui"),
            ("Firebase", "project: shop-1a2b", "fcm"), ("JPush", "app_key: 7d431e42dfa6a6d693ac2d04", "jpush"),
        ])
    func otherNames(name: String, account: String, meant: String) {
        let text = app("service: \(name)\n\(account)\nenvironment: simulator\ncolumns: {token: id}\n")
        #expect(
            found { () throws(Diagnostics) in try readProject(text) }
                == "volley.yaml:3:14: 'service' must be \(serviceNames), not '\(name)'. Did you mean '\(meant)'?")
    }

    @Test("of a service that nobody knows no account is checked, but the rest of the app is")
    func unknownService() {
        let text = app("service: pigeon\nloft_key: 7\napp_key: 9\ncolumns: {tokens: id, jpush_id: id}\n")
        #expect(
            found { () throws(Diagnostics) in try readProject(text) } == """
                volley.yaml:3:14: 'service' must be \(serviceNames), not 'pigeon'. For example: service: \(PushServices.all[0].name).
                volley.yaml:4:5: unknown key 'loft_key' in 'shop'. Valid here: devices, columns, pace, frequency, approval, test_devices, proxy, notices.
                volley.yaml:6:15: unknown key 'tokens' in 'columns'. Did you mean 'token'?
                """)
    }

    @Test("an app of a service that pushes to users has their ids in the column of tokens")
    func users() {
        let text = app("service: rongcloud\napp_key: e0x9wycfx7flq\nenvironment: simulator\ncolumns: {user_id: uid}\n")
        #expect(
            found { () throws(Diagnostics) in try readProject(text) }
                == "volley.yaml:6:15: unknown key 'user_id' in 'columns'. For the user IDs that RongCloud pushes to, Volley calls it 'token'; for those that a campaign names, 'alias'."
        )
    }

    @Test("mistakes are told at their places", arguments: cases)
    func mistakes(_ mistake: MistakeCase) {
        let text = app(apns + mistake.yaml)
        #expect(found { () throws(Diagnostics) in try readProject(text) } == mistake.expected)
    }
}

@Suite("Content for several services")
struct ServiceContentReadingTests {
    private let services: [any PushService] = [APNs(), FCM()]

    private func read(_ content: String) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let text =
            "name: a\napp: shop\naudience: {tags: [a]}\ncontent:\n"
            + content.split(separator: "\n").map { "  \($0)\n" }.joined()
        return try Campaign.read(source: text, file: "campaign.yaml", services: services, now: now)
    }

    @Test("what devices of a service get instead stands below its name, with languages of its own")
    func overlay() throws {
        let content = try read("title: Hi\nservices:\n  fcm: {title: Hello, languages: {de: {title: Hallo}}}\n").0
            .content
        #expect(content.services.map(\.service.value) == ["fcm"])
        #expect(content.services[0].content.title?.value == "Hello")
        #expect(content.services[0].content.languages.map(\.language.value) == ["de"])
    }

    @Test("a payload by hand is for one service, and stands below it; if each has one, nothing else is needed")
    func payloads() throws {
        #expect(
            found { () throws(Diagnostics) in try read("payload: {aps: {alert: Hi}}\n") }.hasPrefix(
                "campaign.yaml:5:3: a payload written by hand is for one service, and the app has APNs and FCM. Write it below the service: services: {apns: {payload:"
            ))
        let both =
            "services:\n  apns: {payload: {aps: {alert: Hi}}}\n  fcm: {payload: {message: {notification: {title: Hi}}}}\n"
        #expect(try read(both).0.content.services.count == 2)
        #expect(
            found { () throws(Diagnostics) in try read("services: {fcm: {title: Hi}}\n") }.contains(
                "the content shows nothing"))
    }

    @Test("a service that the app does not have is a mistake, as is a key that the service does not have")
    func mistakes() {
        #expect(
            found { () throws(Diagnostics) in try read("title: Hi\nservices: {fmc: {title: Hi}}\n") }
                == "campaign.yaml:6:14: unknown key 'fmc' in 'services'. Did you mean 'fcm'?")
        #expect(
            found { () throws(Diagnostics) in try read("title: Hi\nservices: {Apple: {title: Hi}}\n") }
                == "campaign.yaml:6:14: unknown key 'Apple' in 'services'. Did you mean 'apns'?")
        #expect(
            found { () throws(Diagnostics) in try read("title: Hi\nservices: {}\n") }
                == "campaign.yaml:6:13: 'services' is empty. For example: services: {apns: {title: \"…\"}}.")
    }
}
