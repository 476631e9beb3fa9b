import Base
import PushServices
import Testing

@testable import Campaigns

@Suite("A volley.yaml without mistakes")
struct ProjectReadingTests {
    @Test("every key is read as written")
    func everything() throws {
        let (project, warnings) = try readProject(
            """
            runs: sent/runs
            apps:
              shop:
                topic: com.example.shop
                environment: production
                key: {file: keys/AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: 0123456789}
                devices: [a.csv, b.csv]
                columns: {token: device, alias: user, tags: {column: labels, separator: "|"}, last_active: seen, format: leancloud}
                pace: 9000/s

            """)
        let app = try #require(project.app(named: "shop"))
        #expect(warnings.isEmpty)
        #expect(project.file == "volley.yaml")
        #expect(project.runs == "sent/runs")
        #expect(app.name.position.description == "volley.yaml:3:3")
        #expect(app.main.topic.value == "com.example.shop")
        #expect(app.main.credential?.form == "key")
        #expect(
            app.main.credential?.values.mapValues(\.value) == [
                "file": "keys/AuthKey_ABC123DEFG.p8", "id": "ABC123DEFG", "team": "0123456789",
            ])
        #expect(app.devices.map(\.value) == ["a.csv", "b.csv"])
        #expect(
            app.columns.names.mapValues(\.value) == [
                .token: "device", .alias: "user", .tags: "labels", .lastActive: "seen",
            ])
        #expect(app.columns.tagSeparator == "|")
        #expect(app.columns.format == .leanCloud)
        #expect(app.pace == Pace(pushes: 9000, intervalSeconds: 1))
        guard case .named(APNs.production) = app.main.environment else {
            Issue.record("not production")
            return
        }
    }

    @Test("an app may name its service; the others have the usual one, and there is no other")
    func service() throws {
        func app(_ line: String) -> String {
            """
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                \(line)

            """
        }
        for line in ["service: apns", "pace: 500/s"] {
            #expect(try readProject(app(line)).0.app(named: "shop")?.main.service.name == "apns")
        }
        let found = found { () throws(Diagnostics) in try readProject(app("service: nobody")) }
        #expect(
            found == "volley.yaml:5:14: 'service' must be \(serviceNames), not 'nobody'. For example: service: apns.")
    }

    @Test("a separator of tags is any single character", arguments: [",", "|", "，", "؛", "•"])
    func separator(_ separator: String) throws {
        let (project, _) = try readProject(
            """
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {tags: {column: tags, separator: "\(separator)"}}

            """)
        #expect(project.app(named: "shop")?.columns.tagSeparator == separator)
    }

    @Test("two kinds of names that are read from one column are warned of")
    func oneColumn() throws {
        let (_, warnings) = try readProject(
            """
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {registration_id: user, alias: user, token: user}

            """)
        #expect(
            warnings.map(\.description) == [
                "volley.yaml:5:45: warning: 'registration_id' and 'alias' are read from one column, 'user'. Name the column of each. [column-twice]"
            ])
    }

    @Test("an app's devices may come from a database of the project") func database() throws {
        let project = try readProject(
            """
            databases:
              warehouse: {url_env: WAREHOUSE_URL}
              slow: {url_env: SLOW_URL, timeout: 2h}
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                devices:
                  database: warehouse
                  query: |
                    select token as device_token
                    from devices

            """
        ).0
        #expect(project.databases.map(\.name.value) == ["warehouse", "slow"])
        #expect(project.databases.map(\.variable.value) == ["WAREHOUSE_URL", "SLOW_URL"])
        #expect(project.databases.map(\.timeoutSeconds) == [600, 7200])
        let query = try #require(project.apps.first?.deviceQuery)
        #expect(query.database.value == "warehouse")
        #expect(query.sql.value == "select token as device_token\nfrom devices")
        #expect(query.sql.position(atUTF8Offset: 34).description == "volley.yaml:12:14")
        #expect(project.apps.first?.devices.isEmpty == true)
    }

    @Test("several machines may share a store, which is named by the variable that holds its address") func store()
        throws
    {
        func project(_ store: String) throws -> Project {
            try readProject("\(store)apps: {shop: {topic: com.example.shop, environment: simulator}}\n").0
        }
        let variable = try #require(try project("store: {postgres: {url_env: VOLLEY_DATABASE}}\n").store).variable
        #expect(variable.value == "VOLLEY_DATABASE")
        #expect(variable.position.description == "volley.yaml:1:29")
        #expect(try project("").store == nil)
    }

    @Test("a server of one's own has an address and an authority, and a certificate may stand instead of a key")
    func server() throws {
        let project = try readProject(
            """
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "https://localhost:2197", ca: ca.pem}
                certificate: {file: keys/push.p12, passphrase_env: PUSH_PASSPHRASE}

            """
        ).0
        let app = try #require(project.apps.first)
        #expect(app.main.credential?.form == "certificate")
        #expect(
            app.main.credential?.values.mapValues(\.value) == [
                "file": "keys/push.p12", "passphrase_env": "PUSH_PASSPHRASE",
            ])
        guard case .server(let url, let authority) = app.main.environment else {
            Issue.record("not a server")
            return
        }
        #expect(url.value == "https://localhost:2197")
        #expect(authority?.value == "ca.pem")
    }

    @Test("what it leaves out has the defaults of the language, and the simulator needs no key")
    func defaults() throws {
        let project = try readProject("apps: {shop: {topic: a.b, environment: simulator, columns: {tags: labels}}}\n").0
        let app = try #require(project.apps.first)
        #expect(project.runs == "runs")
        #expect(app.main.credential == nil)
        #expect(app.devices.isEmpty)
        #expect(app.columns.names.mapValues(\.value) == [.tags: "labels"])
        #expect(app.columns.tagSeparator == ";")
        #expect(app.pace == nil)
    }

    @Test("apps keep the order of the file")
    func order() throws {
        let app = "{topic: a.b, environment: simulator}"
        let project = try readProject("apps: {z: \(app), a: \(app), m: \(app)}\n").0
        #expect(project.apps.map(\.name.value) == ["z", "a", "m"])
        #expect(project.app(named: "b") == nil)
    }
}
