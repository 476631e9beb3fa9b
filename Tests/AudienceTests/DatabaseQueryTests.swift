import Base
import Foundation
import TestServers
import Testing

@testable import Audience

@Suite("Queries of devices", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct DatabaseQueryTests {
    /// Runs a query.
    /// - Returns: its rows as CSV, and the progress that was reported.
    private func run(_ sql: String) throws -> (text: String, progress: [QueryProgress]) {
        let server = try PostgresServer.shared.get()
        EnvironmentVariables.replace("VOLLEY_TEST_DATABASE", with: server.address())
        let place = SourcePosition(file: "volley.yaml", line: 1, column: 1)
        let database = AudienceDatabase(
            name: "warehouse", variable: SourceText("VOLLEY_TEST_DATABASE", at: place), seconds: 60)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).csv").path
        defer { unlink(path) }
        var progress: [QueryProgress] = []
        try DatabaseQuery(database, SourceText(sql, at: place)).run(into: SpoolFile(path: path), Cancellation()) {
            progress.append($0)
        }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        return (try String(contentsOfFile: path, encoding: .utf8), progress)
    }

    @Test("cells are written as exports have them, whatever their types") func types() throws {
        let (text, _) = try run(
            """
            select true as yes, false as no, null::boolean as unknown, '\\xAB01'::bytea as token, 12.50::numeric as price, 0.1::float8 as part,
                timestamptz '2026-11-26 09:30:15.25+08' as at, timestamp '2026-11-26 09:30:15' as local, date '2026-11-01' as day,
                array['a', 'b c', null] as tags, array[]::text[] as none, '{"k": [1, "ü"]}'::json as data, 'x'::varchar as short
            ;
            """)
        #expect(
            text == """
                yes,no,unknown,token,price,part,at,local,day,tags,none,data,short
                true,false,,ab01,12.50,0.1,2026-11-26T01:30:15.250Z,2026-11-26 09:30:15,2026-11-01,"{a,""b c"",NULL}",{},"{""k"": [1, ""ü""]}",x

                """)
    }

    @Test("a moment before our era, after the year 9999 or at infinity is not another moment")
    func farMoments() throws {
        let (text, _) = try run(
            """
            select timestamptz '0044-03-15 12:00:00Z BC' as ides, date '0044-03-15 BC' as day, timestamp '0001-12-31 23:59:59 BC' as eve,
                timestamptz '0001-01-01 00:00:00Z' as first, timestamptz '9999-12-31 23:59:59.5Z' as last,
                timestamptz '12026-01-01 00:00:00Z' as far, timestamptz 'infinity' as never, timestamptz '-infinity' as always,
                null::timestamptz as unknown
            """)
        let cells =
            text.split(separator: "\n").last?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            ?? []
        #expect(
            cells == [
                "0044-03-15 12:00:00+00 BC", "0044-03-15 BC", "0001-12-31 23:59:59 BC", "0001-01-01T00:00:00.000Z",
                "9999-12-31T23:59:59.500Z", "12026-01-01 00:00:00+00", "infinity", "-infinity", "",
            ])
        let isRead = cells.map { cell in Array(cell.utf8).withUnsafeBufferPointer { dateMilliseconds($0) } != nil }
        #expect(isRead == [false, false, false, true, true, false, false, false, false])
    }

    @Test("quotes, commas, line breaks and other alphabets arrive as they are, in cells and in names of columns")
    func text() throws {
        let (text, _) = try run(
            #"select E'a "b", c\nd' as "it's ""one""", '你好 🎉' as ü, '' as blank, null as nothing -- the end"#)
        #expect(
            text == """
                "it's ""one""\",ü,blank,nothing
                "a ""b"", c
                d",你好 🎉,"",

                """)
    }

    @Test("progress counts rows and bytes, and begins before the first row") func progress() throws {
        let (text, progress) = try run("select n as device_token from generate_series(1, 100000) as n order by n")
        #expect(text.split(separator: "\n").count == 100_001)
        #expect(progress.first == QueryProgress(database: "warehouse"))
        #expect(progress.last == QueryProgress(database: "warehouse", rows: 100_000, bytes: text.utf8.count))
    }

    @Test("the server's zone and styles do not show in cells") func zone() throws {
        let server = try PostgresServer.shared.get()
        try server.sql(
            "CREATE ROLE elsewhere LOGIN; ALTER ROLE elsewhere SET timezone = 'Asia/Shanghai'; ALTER ROLE elsewhere SET datestyle = 'German'; "
                + "ALTER ROLE elsewhere SET intervalstyle = 'sql_standard'; ALTER ROLE elsewhere SET bytea_output = 'escape'; "
                + "ALTER ROLE elsewhere SET extra_float_digits = -15"
        )
        EnvironmentVariables.replace("VOLLEY_TEST_ELSEWHERE", with: server.address(user: "elsewhere"))
        let place = SourcePosition(file: "volley.yaml", line: 1, column: 1)
        let database = AudienceDatabase(
            name: "other", variable: SourceText("VOLLEY_TEST_ELSEWHERE", at: place), seconds: 60)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).csv").path
        defer { unlink(path) }
        let sql =
            "select timestamptz '2026-11-26 09:30:15Z' as at, date '2026-11-01' as day, current_setting('TimeZone') as zone, "
            + "interval '1 day 2 hours' as span, 0.1::float8 + 0.2::float8 as sum, row('\\xAB'::bytea)::text as bytes, 12.5::numeric::money as price"
        try DatabaseQuery(database, SourceText(sql, at: place)).run(into: SpoolFile(path: path), Cancellation()) { _ in
        }
        #expect(
            try String(contentsOfFile: path, encoding: .utf8) == "at,day,zone,span,sum,bytes,price\n"
                + "2026-11-26T09:30:15.000Z,2026-11-01,UTC,1 day 02:00:00,0.30000000000000004,\"(\"\"\\\\xab\"\")\",$12.50\n"
        )
    }
}
