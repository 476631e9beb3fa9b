import Testing

@testable import Base

@Suite("Cores that a process may use")
struct AvailableCoresTests {
    private func quota(_ groups: String, _ files: [String: String]) -> Double? {
        CPUQuota.smallest(groups: groups) { files[$0] }
    }

    @Test("the smallest quota of a group and of those above it counts, in version 2")
    func second() {
        let files = ["/sys/fs/cgroup/a/b/cpu.max": "max 100000\n", "/sys/fs/cgroup/a/cpu.max": "150000 100000\n"]
        #expect(quota("0::/a/b\n", files) == 1.5)
        #expect(quota("0::/\n", ["/sys/fs/cgroup/cpu.max": "200000 100000\n"]) == 2)
        // In a container that shows the path outside.
        #expect(quota("0::/docker/0f3a\n", ["/sys/fs/cgroup/cpu.max": "50000 100000\n"]) == 0.5)
    }

    @Test("the quota of the group of the processor counts in version 1")
    func first() {
        let groups = "5:memory:/x\n4:cpu,cpuacct:/x\n0::/x\n"
        let files = [
            "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "300000\n",
            "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
        ]
        #expect(quota(groups, files) == 3)
        #expect(quota(groups, files.mapValues { $0 == "300000\n" ? "-1\n" : $0 }) == nil)
    }

    @Test(
        "what is no limit, or cannot be read, is none",
        arguments: ["", "max", "max 100000", "0 100000", "-1 100000", "100000", "a b", "1 0"])
    func none(text: String) {
        #expect(quota("0::/\n", ["/sys/fs/cgroup/cpu.max": text]) == nil)
        #expect(quota("nonsense\n:\n0::\n", [:]) == nil)
    }

    @Test("there is at least one")
    func atLeastOne() { #expect(availableCores() >= 1) }
}
