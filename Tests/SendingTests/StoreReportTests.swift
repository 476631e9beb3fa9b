import Base
import Cluster
import Testing

@testable import Sending

@Suite("what volley store check says of what it found")
struct StoreReportTests {
    /// Steps by name, of a store that is well but for some changes.
    private func steps(_ change: (inout StoreCheck) -> Void) -> [String: CheckStep] {
        var check = StoreCheck()
        (check.facts.serverVersion, check.facts.role, check.facts.schema, check.facts.mayCreate) = (
            150_018, "volley", "volley", true
        )
        check.version = StoreCheck.neededVersion
        change(&check)
        return Dictionary(uniqueKeysWithValues: StoreReport(check: check).steps.map { ($0.name, $0) })
    }

    @Test("a store that is well needs nothing") func well() {
        let steps = steps { _ in }
        #expect(steps.count == 7)
        #expect(steps.values.allSatisfy { $0.state == .ok && $0.remedy == nil })
    }

    @Test("a standby and a server that is too old are refused, with what to do") func server() {
        let standby = steps { $0.facts.isStandby = true }["server"]
        #expect(standby?.state == .failed && standby?.message == "PostgreSQL 15.18, a standby, which takes no changes")
        #expect(standby?.remedy?.contains("target_session_attrs=read-write") == true)
        let old = steps { $0.facts.serverVersion = 120_022 }
        #expect(
            old["server"]?.message == "PostgreSQL 12.22 is too old"
                && old["server"]?.remedy == "Use PostgreSQL 13 or newer.")
        #expect(old["tables"]?.state == .skipped && old["rights"]?.state == .skipped)
    }

    @Test("a superuser is not refused, but advised against") func superuser() {
        let step = steps { $0.facts.isSuperuser = true }["connection"]
        #expect(step?.state == .ok && step?.remedy?.contains("make a role that owns") == true)
    }

    @Test("tables of an older version are to be migrated, and what is missing is named") func tables() {
        let older = steps { $0.version = StoreCheck.neededVersion - 1 }
        #expect(older["tables"]?.state == .failed && older["tables"]?.remedy?.contains("volley store migrate") == true)
        let missing = steps { $0.missingTables = ["volley_lease", "volley_leg"] }["tables"]
        #expect(missing?.state == .failed && missing?.message == "missing: volley_lease, volley_leg")
    }

    @Test("a role that only reads, or may not make tables, is told what to do") func rights() {
        let reads = steps { $0.facts.onlyReads = true }["rights"]
        #expect(reads?.remedy == "Let it write: ALTER ROLE volley SET default_transaction_read_only = off")
        let cannot = steps { ($0.version, $0.facts.mayCreate) = (0, false) }["rights"]
        #expect(
            cannot?.state == .failed && cannot?.remedy?.contains("CREATE SCHEMA volley AUTHORIZATION volley") == true)
    }

    @Test(
        "commits that wait for nothing, or not for standbys, are warned of; those of standbys are named",
        arguments: ["off", "local", "on"])
    func commits(setting: String) {
        let step = steps { ($0.facts.synchronousCommit, $0.facts.hasSynchronousStandbys) = (setting, true) }["commits"]
        #expect(step?.state == .ok && (step?.remedy != nil) == (setting != "on"))
        #expect(
            step?.message.hasPrefix("synchronous_commit = \(setting), fsync = on, and standbys that commits wait for")
                == true)
        #expect(
            steps { $0.facts.fsync = "off" }["commits"]?.message.contains("a power cut may damage the store") == true)
    }

    @Test("a clock that differs is information, and a store that is far away a warning") func measures() {
        let steps = steps { ($0.clockLeadSeconds, $0.roundTripSeconds) = (-3.24, 0.0456) }
        #expect(steps["clock"]?.state == .ok && steps["clock"]?.remedy == nil)
        #expect(steps["clock"]?.message == "this machine is 3.2 s ahead of the server; members go by the server's")
        #expect(steps["latency"]?.message == "45.6 ms there and back, the median of 20")
        #expect(steps["latency"]?.state == .ok && steps["latency"]?.remedy != nil)
    }
}
