import Base
import PushServices
import TestSupport
import Testing

@testable import Campaigns

@Suite("a credential of any form is read")
struct CredentialFormTests {
    /// What an app's credential is, and the findings about it.
    private func read(_ yaml: String, _ service: any PushService = OtherService.robots) throws -> (
        CredentialReference?, String
    ) {
        let findings = Findings()
        let source = try YAMLSource(file: "volley.yaml", bytes: Array((yaml + "\n").utf8))
        let root = rootSection(
            of: source, ProjectKeys.app(of: service, name: "shop"), ProjectKeys.file(of: service), example: "",
            findings: findings)
        let reader = AppReader(section: try #require(root), service: service)
        let credential = reader.credential()
        reader.checkCredentials(.named(APNs.production))
        return (credential, Diagnostics(findings.all).description)
    }

    @Test("with the values of its fields, from a file or from a variable")
    func values() throws {
        let (file, nothing) = try read("robot_account: {file: keys/robot.json, region: eu}")
        #expect(nothing.isEmpty && file?.form == "robot_account")
        #expect(file?.values.mapValues(\.value) == ["file": "keys/robot.json", "region": "eu"])
        let (variable, none) = try read("robot_account: {env: SHOP_ROBOT, region: eu}")
        #expect(none.isEmpty && variable?.values.mapValues(\.value) == ["env": "SHOP_ROBOT", "region": "eu"])
        #expect(variable?[OtherService.robots.account.credentials[0].variable]?.value == "SHOP_ROBOT")
    }

    @Test(
        "mistakes in each kind of field",
        arguments: [
            (
                "robot_account: {region: eu}",
                "1:16: 'robot_account' has neither 'file' nor 'env'. Add one of them, for example: file: keys/robot.json."
            ),
            (
                "robot_account: {file: a.json, env: ROBOT, region: eu}",
                "1:31: 'file' and 'env' cannot be combined. Keep the one that this app uses."
            ),
            ("robot_account: {file: , region: eu}", "1:23: 'file' has no value. For example: file: keys/robot.json."),
            (
                "robot_account: {fil: a.json, region: eu}",
                "1:17: unknown key 'fil' in 'robot_account'. Did you mean 'file'?"
            ),
            (
                "robot_account: {file: '{\"pem\": \"secret\"}', region: eu}",
                "1:23: 'file' must be the path of a file. Keep the robot account itself out of this file; write, for example: file: keys/robot.json."
            ),
            (
                "robot_account: {env: '{\"pem\": \"secret\"}', region: eu}",
                "1:22: 'env' must be the name of an environment variable. "
                    + "Keep the robot account itself out of this file; write, for example: env: SHOP_ROBOT."
            ),
            (
                "robot_account: {file: a.json}",
                "1:16: the key 'region' is missing in 'robot_account'. Add it, for example: region: eu."
            ),
            (
                "robot_account: {file: a.json, region: europe}",
                "1:39: the region 'europe' does not have two letters. For example: region: eu."
            ),
            (
                "robot_account: keys/robot.json",
                "1:16: 'robot_account' must be a group of keys, not a text. "
                    + "Keep the robot account itself out of this file; write, for example: robot_account: {file: keys/robot.json, region: eu}."
            ),
            (
                "robot: a.json",
                "1:1: unknown key 'robot' in 'shop'. Write robot_account: {file: keys/robot.json, region: eu}.\n"
                    + "volley.yaml:1:1: the app 'shop' has no 'robot_account', and Robopush answers no one without one. "
                    + "Add, for example: robot_account: {file: keys/robot.json, region: eu}."
            ),
        ])
    func mistakes(yaml: String, expected: String) throws {
        let (credential, found) = try read(yaml)
        #expect(found == "volley.yaml:" + expected)
        #expect(credential == nil || yaml.contains("env: '"))
    }

    @Test("a key in the place of its file is not repeated")
    func pasted() throws {
        let (credential, found) = try read(
            "key: {file: \"-----BEGIN PRIVATE KEY-----\\nMIGH\", id: ABC123DEFG, team: DEF123GHIJ}", APNs())
        #expect(credential == nil)
        #expect(
            found == "volley.yaml:1:13: 'file' must be the path of a file. "
                + "Keep the key itself out of this file; write, for example: file: keys/AuthKey_ABC123DEFG.p8.")
    }

    @Test("the schema knows it: one of both places, the names of variables, the words of fields")
    func schema() throws {
        let schema = SchemaValidator(document: ProjectSchema.document(for: [APNs(), OtherService.robots]))
        func isValid(_ credential: String) throws -> Bool {
            let app = "service: robots, shop_name: my-shop, environment: production, robot_account: {\(credential)}"
            return try schema.mistakes(#require(SchemaTests.json("apps: {shop: {\(app)}}"))).isEmpty
        }
        #expect(try isValid("file: a.json, region: eu"))
        #expect(try isValid("env: SHOP_ROBOT, region: eu"))
        for wrong in [
            "region: eu", "file: a.json, env: A, region: eu", "env: a-b, region: eu", "file: a.json",
            "file: a.json, region: EU",
        ] {
            #expect(try !isValid(wrong), "\(wrong)")
        }
    }
}
