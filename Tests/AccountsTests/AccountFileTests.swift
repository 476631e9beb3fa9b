import Base
import Foundation
import GRDB
import Synchronization
import Testing

@testable import Accounts

@Suite("The file of accounts")
struct AccountFileTests {
    @Test("only its owner may read it, also when it was readable for others, and so are SQLite's files beside it")
    func mode() throws {
        let folder = try AccountFolder()
        _ = try folder.administrator()
        func modes() throws -> [String: Int] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce(into: [:]) { modes, name in
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
                modes[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue
            }
        }
        #expect(try modes() == ["accounts.sqlite": 0o600, "accounts.sqlite-wal": 0o600, "accounts.sqlite-shm": 0o600])
        folder.store.close()
        #expect(chmod(folder.file, 0o644) == 0)
        // What was committed is in the file alone, so that copying it is enough.
        for ending in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: folder.file + ending) }
        let again = try folder.another()
        #expect(try again.accounts().count == 1)
        #expect(try Set(modes().values) == [0o600])
        again.close()
    }

    @Test("no secret is in it but that of the second factor")
    func secrets() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let token = try folder.token("root.admin")
        let (secret, codes) = try folder.secondFactor(of: "root.admin")
        let link = try folder.store.invite(name("ben"), DisplayName("Ben"), [], by: ada, at: noon)
        folder.store.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
        for text in [
            token.text, link.token.text, goodPassword, secret.base32, codes[0].text,
            codes[0].text.replacing("-", with: ""),
        ] {
            #expect(bytes.range(of: Data(text.utf8)) == nil)
        }
        #expect(bytes.range(of: Data(SecretToken.stored(link.token).utf8)) != nil)
    }

    @Test("a file of a newer version is refused, unchanged")
    func newer() throws {
        let folder = try AccountFolder()
        folder.store.close()
        try DatabaseQueue(path: folder.file).write { try $0.execute(sql: "PRAGMA user_version = 6") }
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file))
        let found = diagnostic { _ = try folder.another() }
        #expect(found?.message == "the accounts were written by a newer Volley (format 6; this one reads 5)")
        #expect(found?.file == folder.file && found?.remedy != nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file)) == before)
    }

    /// Takes what format 5 added out of a file.
    static let withoutDrafts = "DROP TABLE draft; DROP TABLE ended_session; DROP TRIGGER session_ends;"

    @Test(
        "an older file keeps its accounts, and takes versions of campaigns and people of providers",
        arguments: [1, 2, 3])
    func older(version: Int) throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        folder.store.close()
        try DatabaseQueue(path: folder.file).write { db in
            if version < 2 { try db.execute(sql: "DROP TABLE version") }
            if version < 3 { try db.execute(sql: "DROP TABLE provider_identity") }
            try db.execute(sql: "DROP TABLE tie; \(Self.withoutDrafts) PRAGMA user_version = \(version)")
        }
        let store = try folder.another()
        defer { store.close() }
        try store.keep(version: "name: sale\n", of: "sale.yaml", app: "shop", by: ada, at: noon)
        #expect(try store.accounts().count == 1 && store.versions(of: "sale.yaml").count == 1)
        let jane = ProviderPerson(
            issuer: "https://a", subject: "1", name: "jane", displayName: nil, grants: [RoleGrant(.viewer, .allApps)],
            provedAt: nil)
        #expect(try store.enter(jane, from: nil, agent: "", at: noon) != .noRole)
    }

    @Test("what is something else is refused, unchanged", arguments: ["text", "sqlite", "folder", "pipe", "link"])
    func others(kind: String) throws {
        let folder = try AccountFolder()
        folder.store.close()
        try FileManager.default.removeItem(atPath: folder.file)
        switch kind {
        case "text":
            try Data(String(repeating: "no database\n", count: 100).utf8).write(to: URL(fileURLWithPath: folder.file))
        case "sqlite": try DatabaseQueue(path: folder.file).write { try $0.execute(sql: "CREATE TABLE t (x)") }
        case "folder": try FileManager.default.createDirectory(atPath: folder.file, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(folder.file, 0o600) == 0)
        default: #expect(symlink(folder.path + "/nowhere", folder.file) == 0)
        }
        let before = try? Data(
            contentsOf: URL(fileURLWithPath: ["text", "sqlite"].contains(kind) ? folder.file : "/dev/null"))
        let found = try #require(diagnostic { _ = try folder.another() })
        #expect(found.file == folder.file)
        let words = ["folder": "this is a folder", "pipe": "this is a named pipe", "link": "where nothing is"]
        #expect(found.message.contains(words[kind] ?? "this is not a file of accounts"), "\(found)")
        #expect((try? Data(contentsOf: URL(fileURLWithPath: before == Data() ? "/dev/null" : folder.file))) == before)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/nowhere"))
    }

    @Test("a folder that is missing is said, not made")
    func noFolder() {
        let found = diagnostic { _ = try AccountStore(folder: "/nowhere/at/all") }
        #expect(found?.message == "the accounts cannot be written: there is no such folder")
    }

    @Test(
        "a value of another type is damage, said in a sentence that repeats none of it",
        arguments: [
            "account SET name = 'A B'", "account SET display_name = x'00'", "account SET state = 'king'",
            "account SET made_at = 'x'", "role SET role = 'king'", "account SET password = 'geheim'",
            "account SET totp_secret = 'xyz'",
            "invitation SET roles = '{'",
            "invitation SET lapses_at = 'x'",
        ])
    func damaged(edit: String) throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let id = try #require(ada.account)
        let token = try folder.token("root.admin")
        let secret = try folder.store.beginSecondFactor(of: id)
        let session = try #require(try folder.store.signedIn(token, at: noon)).session
        let link = try folder.store.invite(name("ben"), DisplayName("Ben"), [], by: .terminal, at: noon)
        try DatabaseQueue(path: folder.file).write { try $0.execute(sql: "UPDATE \(edit)") }
        let found = diagnostic {
            _ = try folder.store.accounts()
            _ = try folder.store.signedIn(token, at: noon)
            _ = try folder.store.openInvitations(at: noon)
            _ = try folder.store.credential(name("root.admin"))
            _ = try folder.store.invitation(link.token, at: noon)
            _ = try folder.store.confirmSecondFactor(
                secret.code(ofStep: TOTPSecret.step(at: noon)), in: session, from: nil, at: noon)
        }
        #expect(
            found
                == Diagnostic(
                    "the file of accounts is damaged: a value in it cannot be read", file: folder.file,
                    remedy: "Restore it from a backup.")
        )
    }

    @Test("a file with a table missing, or with broken pages, is damaged")
    func broken() throws {
        let folder = try AccountFolder()
        _ = try folder.administrator()
        folder.store.close()
        try DatabaseQueue(path: folder.file).write { try $0.execute(sql: "ALTER TABLE role RENAME TO roles") }
        let store = try folder.another()
        #expect(
            diagnostic { _ = try store.accounts() }?.message
                == "the file of accounts is damaged: a table or a column is missing")
        store.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.file))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 4096))
        try file.close()
        #expect(diagnostic { _ = try folder.another().activities() }?.message.contains("damaged") == true)
    }

    @Test(
        "a folder that may not be written says so, whether or not another process has the file open",
        .enabled(if: geteuid() == 0, "a read-only mount needs root"), arguments: [false, true])
    func readOnly(isOpen: Bool) throws {
        let folder = try AccountFolder()
        _ = try folder.administrator()
        if !isOpen { folder.store.close() }
        func run(_ arguments: [String]) throws -> Int32 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
        try #require(try run(["mount", "--bind", folder.path, folder.path]) == 0, "cannot mount here")
        defer { _ = try? run(["umount", "-l", folder.path]) }
        try #require(try run(["mount", "-o", "remount,ro,bind", folder.path]) == 0)
        let found = diagnostic { _ = try folder.another() }
        #expect(
            found?.message.hasSuffix("the folder of the console's accounts: its file system is read-only") == true,
            "\(String(describing: found))")
    }
}
