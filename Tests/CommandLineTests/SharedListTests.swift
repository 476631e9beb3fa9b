import Base
import Cryptography
import Foundation
import TestCommands
import TestServers
import Testing

@Suite(
    "A suppression list of two machines",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SharedListTests {
    @Test("is the same for both; a plan that cannot ask the store goes on with what is known, and warns")
    func both() throws {
        let server = try PostgresServer.shared.get(), role = "list_both"
        try server.sql("CREATE ROLE \(role) LOGIN; CREATE SCHEMA \(role) AUTHORIZATION \(role)")
        let folders = try (0..<2).map { _ in
            try ProjectFolder(app: "environment: production\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        }
        for folder in folders {
            let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
            try folder.write("volley.yaml", "store: {postgres: {url_env: VOLLEY_DATABASE}}\n" + project)
            try folder.write("key.p8", SigningKey.generate().pem)
            chmod(folder.url.appendingPathComponent("key.p8").path, 0o600)
            try folder.writeCampaign()
        }
        func volley(_ machine: Int, _ arguments: String...) throws -> VolleyBinary.Result {
            try VolleyBinary.run(
                arguments, in: folders[machine].url, environment: ["VOLLEY_DATABASE": server.address(user: role)])
        }
        func suppressed(_ machine: Int) throws -> (count: Int?, names: String) {
            let preview = try volley(machine, "preview", "campaign.yaml", "--json")
            return (try preview.json()["skipped"]?.int("suppressed"), preview.output + preview.errors)
        }
        #expect(try volley(0, "store", "migrate").status == 0)
        try folders[0].write("gone.txt", ProjectFolder.token(3) + "\n")
        #expect(try volley(0, "suppression", "import", "gone.txt").status == 0)
        #expect(try suppressed(1).count == 1)
        #expect(try !suppressed(1).names.contains("store-away"))

        try server.sql("ALTER ROLE \(role) NOLOGIN")
        let away = try suppressed(1)
        #expect(away.count == 1 && away.names.contains("store-away"), "\(away)")
        let removed = try volley(1, "suppression", "remove", ProjectFolder.token(3))
        #expect(removed.status == 0 && removed.errors.components(separatedBy: "store-away").count == 2, "\(removed)")
        #expect(try suppressed(1).count == nil)

        try server.sql("ALTER ROLE \(role) LOGIN")
        #expect(try suppressed(0).count == 1, "nobody has told the store yet")
        #expect(try suppressed(1).count == nil)
        #expect(try suppressed(0).count == nil)
        #expect(folders[1].files(in: "runs") == ["suppressed-shop.sqlite"])
    }
}
