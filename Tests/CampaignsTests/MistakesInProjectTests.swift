import Base
import Testing

@testable import Campaigns

@Suite("Mistakes in volley.yaml")
struct MistakesInProjectTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readProject(mistake.yaml) } == mistake.expected)
    }

    @Test(
        "a ~ whose folder is not known, and a variable, are mistakes wherever volley.yaml names a path",
        arguments: [
            "runs: ~x/runs\napps: {shop: {topic: a.b, environment: simulator}}\n",
            "apps: {shop: {topic: a.b, environment: simulator, devices: [~x/devices.csv]}}\n",
            "apps: {shop: {topic: a.b, environment: sandbox, key: {file: ~x/a.p8, id: ABC123DEFG, team: DEF123GHIJ}}}\n",
            "apps: {shop: {topic: a.b, environment: {url: \"https://localhost:1\", ca: ~x/ca.pem}}}\n",
            "monitoring: {health: ~x/h.json}\napps: {shop: {topic: a.b, environment: simulator}}\n",
            "console: {roots: [~x/campaigns]}\napps: {shop: {topic: a.b, environment: simulator}}\n",
            "notices: [{command: [~x/hook.sh]}]\napps: {shop: {topic: a.b, environment: simulator}}\n",
            "notices: [{webhook: \"https://example.com/a\", ca: ~x/ca.pem}]\napps: {shop: {topic: a.b, environment: simulator}}\n",
        ])
    func homes(yaml: String) {
        let words = found { () throws(Diagnostics) in try readProject(yaml) }
        #expect(
            words.contains(": '~' with a name is not read as the home folder of a user. Write the whole path."),
            "\(words)")
        let variable = found { () throws(Diagnostics) in try readProject(yaml.replacing("~x", with: "$HOME")) }
        #expect(
            variable.contains(": variables such as $HOME are not replaced in paths. Write the whole path"),
            "\(variable)")
    }

    @Test("a name of an app that no file can have in its name is a mistake; blanks take three bytes there")
    func longName() {
        func words(_ name: String) -> String {
            found { () throws(Diagnostics) in
                try readProject("apps: {\"\(name)\": {topic: a.b, environment: simulator}}\n")
            }
        }
        for name in [
            String(repeating: "a", count: 229), String(repeating: "é", count: 114), String(repeating: "a a", count: 45),
        ] {
            #expect(!words(name).contains("too long"), "\(words(name))")
            #expect(
                words(name + "aaaaa").contains(
                    "volley.yaml:1:8: the name of an app is too long for the name of a file"), "\(name)")
        }
    }

    private static let shop = "apps: {shop: {topic: com.example.shop, environment: simulator"

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "a key whose meaning is there already",
            "apps:\n  shop:\n    service: jpush\n    app_key: 0123456789abcdef01234567\n    topic: com.example.shop\n    environment: simulator\n",
            "volley.yaml:5:5: unknown key 'topic' in 'shop'. It most likely means 'app_key', which is there already: remove this line."
        ),
        MistakeCase(
            "a database that is not there",
            "databases: {warehouse: {url_env: W}}\n\(shop), devices: {database: warehose, query: select 1}}}\n",
            "volley.yaml:2:84: there is no database 'warehose' in volley.yaml. Did you mean 'warehouse'?"),
        MistakeCase(
            "a query without any database",
            "\(shop), devices: {database: warehouse, query: select 1}}}\n",
            """
            volley.yaml:1:84: there is no database 'warehouse' in volley.yaml. Write at the top level of volley.yaml: databases: {warehouse: {url_env: WAREHOUSE_URL}}.
            """),
        MistakeCase(
            "an address in place of a variable is not repeated",
            "databases: {warehouse: {url_env: \"postgresql://volley:hush@db/shop\"}}\n\(shop)}}\n",
            """
            volley.yaml:1:34: 'url_env' must be the name of an environment variable. Keep the address itself out of this file; write, for example: url_env: WAREHOUSE_URL.
            """),
        MistakeCase(
            "an unknown key of a database",
            "databases: {warehouse: {url: x, timeout: 0s}}\n\(shop)}}\n",
            """
            volley.yaml:1:25: unknown key 'url' in the database. Keep the address out of this file: write url_env with the name of the environment variable that holds it.
            volley.yaml:1:42: a query may take 1s to 24h, not '0s'. For example: timeout: 10min.
            """),
        MistakeCase(
            "a misspelt store",
            "stor: {postgres: {url_env: V}}\n\(shop)}}\n",
            "volley.yaml:1:1: unknown key 'stor' at the top level. Did you mean 'store'?"),
        MistakeCase(
            "a store that is a text",
            "store: postgres\n\(shop)}}\n",
            """
            volley.yaml:1:8: 'store' must be a group of keys, not a text. For example: store: {postgres: {url_env: VOLLEY_DATABASE}}.
            """),
        MistakeCase(
            "a store without its database",
            "store: {}\n\(shop)}}\n",
            "volley.yaml:1:8: the key 'postgres' is missing in 'store'. Add it, for example: postgres: {url_env: VOLLEY_DATABASE}."
        ),
        MistakeCase(
            "a misspelt kind of store",
            "store: {postgresql: {url_env: V}}\n\(shop)}}\n",
            "volley.yaml:1:9: unknown key 'postgresql' in 'store'. Did you mean 'postgres'?"),
        MistakeCase(
            "a variable that is not below its kind of store",
            "store: {url_env: V}\n\(shop)}}\n",
            """
            volley.yaml:1:9: unknown key 'url_env' in 'store'. Write store: {postgres: {url_env: VOLLEY_DATABASE}}, with the name of the environment variable that holds the address.
            """),
        MistakeCase(
            "a store without its variable",
            "store: {postgres: {}}\n\(shop)}}\n",
            "volley.yaml:1:19: the key 'url_env' is missing in 'postgres'. Add it, for example: url_env: VOLLEY_DATABASE."
        ),
        MistakeCase(
            "the address of a store is not repeated",
            "store: {postgres: {url_env: \"postgresql://volley:hush@db/volley\"}}\n\(shop)}}\n",
            """
            volley.yaml:1:29: 'url_env' must be the name of an environment variable. Keep the address itself out of this file; write, for example: url_env: VOLLEY_DATABASE.
            """),
        MistakeCase(
            "the address of a store under another name",
            "store: {postgres: {url: \"postgresql://volley:hush@db/volley\"}}\n\(shop)}}\n",
            """
            volley.yaml:1:20: unknown key 'url' in 'postgres'. Keep the address out of this file: write url_env with the name of the environment variable that holds it.
            """),
        MistakeCase(
            "a misspelt variable of a store",
            "store: {postgres: {url_enf: V}}\n\(shop)}}\n",
            "volley.yaml:1:20: unknown key 'url_enf' in 'postgres'. Did you mean 'url_env'?"),
        MistakeCase(
            "a query without SQL",
            "databases: {warehouse: {url_env: W}}\n\(shop), devices: {database: warehouse, sql: select 1}}}\n",
            "volley.yaml:2:95: unknown key 'sql' in 'devices'. Volley calls it 'query'."),
        MistakeCase(
            "a query without its text",
            "databases: {warehouse: {url_env: W}}\n\(shop), devices: {database: warehouse}}}\n",
            """
            volley.yaml:2:73: the key 'query' is missing in 'devices'. Add it, for example: query: "select token as device_token from devices".
            """),
        MistakeCase(
            "a query among files",
            "databases: {warehouse: {url_env: W}}\n\(shop), devices: [a.csv, {database: warehouse, query: select 1}]}}\n",
            """
            volley.yaml:2:81: an entry of 'devices' must be a text, not a group of keys. For example: devices: exports/devices.csv.
            """),
        MistakeCase(
            "no apps",
            "runs: runs\n",
            """
            volley.yaml:1:1: the key 'apps' is missing. Add it, for example: apps: {shop: {topic: com.example.shop, environment: simulator}}.
            """),
        MistakeCase(
            "apps is empty",
            "apps: {}\n",
            "volley.yaml:1:7: 'apps' is empty. For example: apps: {shop: {topic: com.example.shop, environment: simulator}}."
        ),
        MistakeCase(
            "apps is a list",
            "apps: [shop]\n",
            """
            volley.yaml:1:7: 'apps' must be a group of keys, not a list. For example: apps: {shop: {topic: com.example.shop, environment: simulator}}.
            """),
        MistakeCase(
            "an app that is a text",
            "apps: {shop: com.example.shop}\n",
            """
            volley.yaml:1:14: 'shop' must be a group of keys, not a text. For example: shop: {topic: com.example.shop, environment: simulator}.
            """),
        MistakeCase(
            "an app with nothing in it",
            "apps: {shop: {}}\n",
            """
            volley.yaml:1:14: the key 'topic' is missing in 'shop'. Add it, for example: topic: com.example.shop.
            volley.yaml:1:14: the key 'environment' is missing in 'shop'. Add it, for example: environment: sandbox.
            """),
        MistakeCase(
            "keys misspelt everywhere",
            #"""
            run: runs
            apps:
              shop:
                topik: com.example.shop
                environment: simulator
                colums: {token: a}

            """#,
            """
            volley.yaml:1:1: unknown key 'run' at the top level. Did you mean 'runs'?
            volley.yaml:4:5: unknown key 'topik' in 'shop'. Did you mean 'topic'?
            volley.yaml:6:5: unknown key 'colums' in 'shop'. Did you mean 'columns'?
            """),
        MistakeCase(
            "keys of no version",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                retries: 3
                holidays: true
                volume: [a]

            """#,
            """
            volley.yaml:5:5: unknown key 'retries' in 'shop'. Valid here: topic, environment, key, certificate, devices, columns, pace, frequency, approval, test_devices, proxy, notices.
            volley.yaml:6:5: unknown key 'holidays' in 'shop'. Valid here: topic, environment, key, certificate, devices, columns, pace, frequency, approval, test_devices, proxy, notices.
            volley.yaml:7:5: unknown key 'volume' in 'shop'. Valid here: topic, environment, key, certificate, devices, columns, pace, frequency, approval, test_devices, proxy, notices.
            """),
        MistakeCase(
            "test devices that are none",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                test_devices:
                  - nothex00nothex00
                  - {name: Anna, tokn: aabbccdd00112233}
                  - {token: AABBCCDD00112233, language: german german, cells: [x], colour: red}
                  - aabbccdd00112233

            """#,
            """
            volley.yaml:6:9: 'noth…ex00' cannot be a device token, as it holds more than hex digits (0-9, a-f). A token is hex digits only, an even number of them; put it in quotes.
            volley.yaml:7:22: unknown key 'tokn' in the test device. Did you mean 'token'?
            volley.yaml:8:45: 'german german' is not a language. Write a language tag such as de, pt-BR or zh-Hans.
            volley.yaml:8:67: 'cells' must be a group of keys, not a list. For example: cells: {first_name: Anna}.
            volley.yaml:8:72: unknown key 'colour' in the test device. Valid here: name, token, alias, language, cells.
            volley.yaml:9:9: the test device aabb…2233 is already in line 8. Keep one of them.
            """),
        MistakeCase(
            "a topic with a blank",
            #"""
            apps:
              shop:
                topic: com example
                environment: simulator

            """#,
            """
            volley.yaml:3:12: the topic 'com example' is not a bundle id; those have only letters, digits, hyphens and full stops. For example: topic: com.example.shop.
            """),
        MistakeCase(
            "a topic that is the App Store's number, and one for calls",
            #"""
            apps:
              shop:
                topic: id123456789
                environment: simulator
              phone:
                topic: com.example.phone.voip
                environment: simulator

            """#,
            """
            volley.yaml:3:12: the topic 'id123456789' is the app's number in the App Store, and APNs knows it by its bundle id. Write that, as in topic: com.example.shop.
            volley.yaml:6:12: the topic 'com.example.phone.voip' is for pushes of another kind, which show no text. Write the bundle id alone: topic: com.example.phone.
            """),
        MistakeCase(
            "a misspelt environment",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: prod
                certificate: {file: a.p12}

            """#,
            """
            volley.yaml:4:18: 'environment' must be production, sandbox or simulator, not 'prod'. Write environment: production.
            """),
        MistakeCase(
            "a sandbox without key",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: sandbox

            """#,
            """
            volley.yaml:3:5: the app 'shop' has neither 'key' nor 'certificate', and APNs answers no one without one. Add, for example: key: {file: keys/AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ}.
            """),
        MistakeCase(
            "a key and a certificate",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                key: {file: a.p8, id: ABC123DEFG, team: DEF123GHIJ}
                certificate: {file: a.p12}

            """#,
            "volley.yaml:6:5: 'key' and 'certificate' cannot be combined. Keep the one that this app uses."),
        MistakeCase(
            "a key with wrong identifiers",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                key: {file: a.p8, id: abc123defg, team: DEF123GHI}

            """#,
            """
            volley.yaml:5:27: 'id' must be exactly 10 capital letters and digits, not 'abc123defg'. Copy it from Apple's developer site, for example: id: ABC123DEFG.
            volley.yaml:5:45: 'team' must be exactly 10 capital letters and digits, not 'DEF123GHI'. Copy it from Apple's developer site, for example: team: DEF123GHIJ.
            """),
        MistakeCase(
            "a key without parts",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                key: {}

            """#,
            """
            volley.yaml:5:10: the key 'file' is missing in 'key'. Add it, for example: file: keys/AuthKey_ABC123DEFG.p8.
            volley.yaml:5:10: the key 'id' is missing in 'key'. Add it, for example: id: ABC123DEFG.
            volley.yaml:5:10: the key 'team' is missing in 'key'. Add it, for example: team: DEF123GHIJ.
            """),
        MistakeCase(
            "a passphrase in the file",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                certificate: {file: a.p12, passphrase_env: "s3cret pass"}

            """#,
            """
            volley.yaml:5:48: 'passphrase_env' must be the name of an environment variable. Keep the passphrase itself out of this file; write, for example: passphrase_env: PUSH_PASSPHRASE.
            """),
        MistakeCase(
            "a certificate without file",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                certificate: {passphrase_env: PASS}

            """#,
            "volley.yaml:5:18: the key 'file' is missing in 'certificate'. Add it, for example: file: keys/push.p12."),
        MistakeCase(
            "a server over http",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "http://localhost"}
                certificate: {file: a.p12}

            """#,
            """
            volley.yaml:4:24: the address 'http://localhost' must begin with https://. For example: url: "https://localhost:2197".
            """),
        MistakeCase(
            "a server with a path",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "https://localhost:2197/3/device"}
                certificate: {file: a.p12}

            """#,
            """
            volley.yaml:4:24: the address 'https://localhost:2197/…' must end after the host and port. Remove the path. For example: url: "https://localhost:2197".
            """),
        MistakeCase(
            "a server with a port that is none",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "https://localhost:99999"}
                certificate: {file: a.p12}

            """#,
            """
            volley.yaml:4:24: the port of 'https://localhost:99999' must be a number from 1 to 65535. For example: url: "https://localhost:2197".
            """),
        MistakeCase(
            "a server without host",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "https://:2197"}
                certificate: {file: a.p12}

            """#,
            "volley.yaml:4:24: the address 'https://:2197' names no host. For example: url: \"https://localhost:2197\"."
        ),
        MistakeCase(
            "a server with a user",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "https://me@localhost"}
                certificate: {file: a.p12}

            """#,
            "volley.yaml:4:24: the address 'https://…@localhost' holds a user or a password. Remove what is before the @. For example: url: \"https://localhost:2197\"."
        ),
        MistakeCase(
            "a server without address",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: {ca: ca.pem}
                certificate: {file: a.p12}

            """#,
            """
            volley.yaml:4:18: the key 'url' is missing in 'environment'. Add it, for example: url: "https://localhost:2197".
            """),
        MistakeCase(
            "columns of no standard name",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {tokens: a, last_activ: b}

            """#,
            """
            volley.yaml:5:15: unknown key 'tokens' in 'columns'. Did you mean 'token'?
            volley.yaml:5:26: unknown key 'last_activ' in 'columns'. Did you mean 'last_active'?
            """),
        MistakeCase(
            "keys that stand in a campaign, or are called otherwise",
            #"""
            timezone: Europe/Berlin
            language: en
            apps:
              shop:
                bundle_id: com.example.shop
                sandbox: true
                url: "https://localhost:2197"
                language: en
                columns: {name: first_name, user_id: id}

            """#,
            """
            volley.yaml:1:1: unknown key 'timezone' at the top level. It belongs in a campaign, under 'schedule'. For a column of the exports write in the app columns: {timezone: NAME}.
            volley.yaml:2:1: unknown key 'language' at the top level. Texts in other languages belong in a campaign, under 'content'. For the column of the exports write in the app columns: {language: NAME}.
            volley.yaml:5:5: unknown key 'bundle_id' in 'shop'. Volley calls it 'topic'.
            volley.yaml:6:5: unknown key 'sandbox' in 'shop'. Write environment: sandbox.
            volley.yaml:7:5: unknown key 'url' in 'shop'. For a server other than Apple's write environment: {url: "https://localhost:2197", ca: ca.pem}.
            volley.yaml:8:5: unknown key 'language' in 'shop'. Texts in other languages belong in a campaign, under 'content'. For the column of the exports write columns: {language: NAME}.
            volley.yaml:9:15: unknown key 'name' in 'columns'. Columns that you use in texts or in 'where' need no entry here: use their names from the export, for example {{ first_name }}.
            volley.yaml:9:33: unknown key 'user_id' in 'columns'. Volley calls it 'alias'.
            """),
        MistakeCase(
            "a column that is a list",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {token: [a], tags: {column: tags, separator: "; "}}

            """#,
            """
            volley.yaml:5:22: 'token' must be a text, not a list. For example: token: token.
            volley.yaml:5:59: 'separator' must be a single character such as ; or |, not '; '. For example: separator: ";".
            """),
        MistakeCase(
            "a tag separator that is nothing",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {tags: {separator: }}

            """#,
            "volley.yaml:5:33: 'separator' has no value. For example: separator: \";\"."),
        MistakeCase(
            "a format that Volley does not know",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {format: leanclod, rows: all}

            """#,
            """
            volley.yaml:5:23: 'format' must be leancloud, not 'leanclod'. Did you mean 'leancloud'?
            volley.yaml:5:39: 'rows' must be newest or merge, not 'all'. For example: rows: newest.
            """),
        MistakeCase(
            "a pace of 0 and no devices",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                devices: []
                pace: 0/s

            """#,
            """
            volley.yaml:5:14: 'devices' is an empty list. Name a file, or remove the key.
            volley.yaml:6:11: a pace of 0 would never send anything. Write at least 1, for example: 100/s.
            """),
        MistakeCase(
            "an environment in the words of others",
            "apps: {shop: {topic: a.b, environment: development}}\n",
            "volley.yaml:1:40: 'environment' must be production, sandbox or simulator, not 'development'. Apple calls it sandbox: write environment: sandbox. Apps from TestFlight and the App Store are in production."
        ),
        MistakeCase(
            "tags in the words of others",
            "apps: {shop: {topic: a.b, environment: simulator, columns: {tags: {name: tags, sep: \";\"}}}}\n",
            """
            volley.yaml:1:68: unknown key 'name' in 'tags'. Volley calls it 'column'.
            volley.yaml:1:80: unknown key 'sep' in 'tags'. Volley calls it 'separator'.
            """),
        MistakeCase(
            "what a campaign says of its schedule",
            "apps: {shop: {topic: a.b, environment: simulator, timezone: UTC}}\n",
            "volley.yaml:1:51: unknown key 'timezone' in 'shop'. It belongs in a campaign, under 'schedule'. For a column of the exports write columns: {timezone: NAME}."
        ),
        MistakeCase(
            "a test device by its registration id, and aliases that are not alone",
            #"""
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                test_devices:
                  - {name: Anna, registration_id: a}
                  - {name: Ben, alias: b, token: "00001111"}
                  - {name: Carl, alias: c, service: apns}
                  - {name: Dora, alias: " "}
                  - {name: Eva, alias: b}

            """#,
            """
            volley.yaml:6:22: unknown key 'registration_id' in the test device. Name a test device by its token, or a person by their alias: {name: Anna, token: 7276…}.
            volley.yaml:7:31: 'token' and 'alias' are both given: the exports say which devices an alias has. Remove one of them.
            volley.yaml:8:32: 'service' and 'alias' are both given: the exports say which devices an alias has. Remove one of them.
            volley.yaml:9:29: 'alias' is blank. For example: alias: user4711.
            volley.yaml:10:28: the test device with the alias 'b' is already in line 7. Keep one of them.
            """),
    ]
}
