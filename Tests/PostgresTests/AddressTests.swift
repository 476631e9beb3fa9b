import Testing

@testable import Postgres

@Suite("The address of a database") struct AddressTests {
    private func refusal(_ text: String) -> PostgresError? {
        do {
            _ = try PostgresAddress(text, of: "WAREHOUSE_URL")
            return nil
        } catch { return error }
    }

    @Test(
        "over a network the server is always verified",
        arguments: [
            "postgresql://volley@db.example.com/shop", "host=db.example.com dbname=shop", "host=10.0.0.7",
            "dbname=shop", "service=shop",
            "host=localhost,db.example.com", "host=localhost hostaddr=10.0.0.7",
            "postgresql://volley@db.example.com/shop?sslmode=verify-full",
        ])
    func verifies(text: String) throws {
        let address = try PostgresAddress(text, of: "WAREHOUSE_URL")
        #expect(address.parameters["sslmode"] == "verify-full")
        #expect(address.parameters["gssencmode"] == "disable")
    }

    @Test(
        "an address counts before a host's name, wherever libpq finds it: such a server is verified, however local its name sounds",
        arguments: [
            ("host=localhost", ["PGHOSTADDR": "10.0.0.7"]), ("host=localhost hostaddr=''", ["PGHOSTADDR": "10.0.0.7"]),
            ("host=/var/run/postgresql", ["PGHOSTADDR": "db.example.com"]),
            ("host=localhost,127.0.0.1", ["PGHOSTADDR": "127.0.0.1,10.0.0.7"]),
            ("host=localhost service=shop", [:]), ("host=localhost", ["PGSERVICE": "shop"]),
            ("host=127.0.0.1 hostaddr='' service=shop", [:]),
            ("host=/var/run/postgresql service=''", ["PGSERVICE": "shop"]),
            ("hostaddr=10.0.0.7", ["PGHOSTADDR": "127.0.0.1"]),
        ] as [(String, [String: String])])
    func elsewhere(text: String, environment: [String: String]) throws {
        let address = try PostgresAddress(text, of: "WAREHOUSE_URL") { environment[$0] }
        #expect(address.parameters["sslmode"] == "verify-full" && address.parameters["gssencmode"] == "disable")
        #expect(throws: PostgresError.self) {
            _ = try PostgresAddress(text + " sslmode=prefer", of: "WAREHOUSE_URL") { environment[$0] }
        }
    }

    @Test(
        "an address of this machine is one, and one that is given keeps out what the environment and a service file say",
        arguments: [
            ("host=localhost", ["PGHOSTADDR": "127.0.0.1"]), ("dbname=shop", ["PGHOSTADDR": "::1"]),
            ("host=localhost,127.0.0.1", ["PGHOSTADDR": ",127.0.0.2"]), ("host=localhost", ["PGHOSTADDR": ""]),
            ("host=localhost hostaddr=127.0.0.1", ["PGHOSTADDR": "10.0.0.7", "PGSERVICE": "shop"]),
            ("hostaddr=::1 service=shop", [:]),
        ] as [(String, [String: String])])
    func here(text: String, environment: [String: String]) throws {
        #expect(try PostgresAddress(text, of: "WAREHOUSE_URL") { environment[$0] }.parameters["sslmode"] == nil)
    }

    @Test(
        "a HOME that is no whole path is refused: libpq would look for passwords and authorities in the current folder")
    func relativeHome() throws {
        for text in ["host=localhost", "host=db.example.com"] {
            let error = #expect(throws: PostgresError.self) {
                try PostgresAddress(text, of: "WAREHOUSE_URL") { ["HOME": "h"][$0] }
            }
            #expect(error.map { "\($0)" }?.contains("HOME is h, which does not begin with /") == true)
            for home in ["", "/home/a"] { _ = try PostgresAddress(text, of: "WAREHOUSE_URL") { ["HOME": home][$0] } }
        }
    }

    @Test(
        "a mode that verifies less is refused",
        arguments: ["disable", "allow", "prefer", "require", "verify-ca"])
    func weakModes(mode: String) throws {
        let error = try #require(refusal("postgresql://volley@db.example.com/shop?sslmode=\(mode)"))
        #expect(error.cause == .address)
        #expect(error.message == "WAREHOUSE_URL has sslmode=\(mode), which does not verify the server")
        #expect(error.remedy?.contains("sslmode=verify-full") == true)
    }

    @Test(
        "on this machine it may be left out",
        arguments: [
            "host=/var/run/postgresql dbname=shop", "postgresql://volley@localhost/shop", "host=127.0.0.1", "host=::1",
            "postgresql:///shop?host=/var/run/postgresql", "host=localhost,127.0.0.1", "host=name hostaddr=127.0.0.1",
        ])
    func local(text: String) throws {
        #expect(try PostgresAddress(text, of: "WAREHOUSE_URL").parameters["sslmode"] == nil)
    }

    @Test(
        "a password that is not percent-encoded is never repeated, wherever it ended up",
        arguments: [
            "postgresql://volley:hush@hush@db.example.com/shop", "postgresql://volley:hush/hush@db.example.com/shop",
            "postgresql://volley:12/hush@db.example.com/shop", "hush",
            "host=db.example.com password=hush hush", "host=db.example.com password=hush hush=1",
            "postgresql://volley@db.example.com/shop?password=a&hush=b",
        ])
    func hushed(text: String) throws {
        let error = try #require(refusal(text))
        #expect(error.cause == .address)
        #expect(!"\(error)".contains("hush"))
        #expect(error.message == "WAREHOUSE_URL does not hold the address of a database")
    }

    @Test(
        "what cannot be read is named in words of our own, with the nearest option, and without secrets",
        arguments: [
            (
                "postgresql://volley:hush@db/shop?sslmod=verify-full", "has the option sslmod, which",
                "Did you mean sslmode?"
            ),
            ("postgresql://db/shop?foo=1", "has the option foo, which", "Remove it."),
            ("postgresql://db/shop?sslmode", "has the option sslmode without a value", "Write sslmode=VALUE"),
            ("\"postgresql://volley:hush@db/shop\"", "has quotes around the address", "without the quotes"),
            ("'host=db password=hush'", "has quotes around the address", "without the quotes"),
            ("host=db sslmod=require", "has the option sslmod, which", "Did you mean sslmode?"),
            ("mysql://volley:hush@db/shop", "begins with mysql://, and Volley reads PostgreSQL", "Write postgresql://"),
            ("postgresql://volley:hush%zz@db/shop", "has a % that two hexadecimal digits do not follow", "as %25"),
            ("postgresql://db:99999/shop", "has the port 99999, which is not a number from 1 to 65535", "5432"),
            ("host=db port=abc", "has the port abc, which", "5432"),
            ("host=a,b,c port=1,2", "has 3 hosts and 2 ports", "Give each host"),
            ("host=db connect_timeout=soon", "has connect_timeout=soon, which is not a whole number", "Write a number"),
            (
                "host=db sslrootcert=/nowhere/ca.pem",
                "sslrootcert=/nowhere/ca.pem, which cannot be read: there is no such file",
                "in PEM form"
            ),
            (
                "host=db sslrootcert=/etc/passwd", "sslrootcert=/etc/passwd, which holds no certificate in PEM form",
                "in PEM form"
            ),
        ])
    func flaws(text: String, words: String, remedy: String) throws {
        let error = try #require(refusal(text))
        #expect(
            error.cause == .address && error.message.contains(words) && error.remedy?.contains(remedy) == true,
            "\(error)")
        #expect(error.message.hasPrefix("WAREHOUSE_URL ") && !"\(error)".contains("hush"))
    }

    @Test("an address may set its own limits, and the rest has usual ones") func limits() throws {
        let address = try PostgresAddress("host=localhost connect_timeout=3 tcp_user_timeout=5000", of: "X")
        #expect(address.connectSeconds == 3)
        #expect(address.parameters["tcp_user_timeout"] == "5000")
        #expect(address.parameters["keepalives_idle"] == "30")
        #expect(address.parameters["fallback_application_name"] == "volley")
        #expect(address.parameters["client_encoding"] == "UTF8")
    }
}

@Suite("what PostgreSQL refuses") struct PostgresErrorTests {
    @Test(
        "a connection that the server ended, or that broke, is of no more use; a refused statement leaves it as it is",
        arguments: [
            ("57P01", true), ("57P03", true), ("08006", true), ("57014", false), ("23505", false), ("53100", false),
        ])
    func lostConnections(state: String, isLost: Bool) {
        #expect(PostgresError(.refused(sqlState: state), "why").isConnectionLost == isLost)
        #expect(PostgresError(.lost, "why").isConnectionLost)
    }
}
