import Glibc

/// The cores that this process may use, at least 1: `taskset`, cpusets and the CPU quotas of
/// containers allow fewer than the machine has.
public func availableCores() -> Int {
    let machine = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let quota = CPUQuota.current().map { Int($0.rounded(.up)) } ?? machine
    return max(1, min(machine, allowedCores(of: machine), quota))
}

private func allowedCores(of machine: Int) -> Int {
    guard let status = try? FilePaths.read("/proc/self/status") else { return machine }
    for line in String(decoding: status, as: UTF8.self).split(separator: "\n") where line.hasPrefix("Cpus_allowed:") {
        // Groups of eight hex digits, separated by commas, with a bit for each core.
        return line.dropFirst(13).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
    }
    return machine
}

/// The processor time that control groups allow: `docker run --cpus 2`, `CPUQuota=` of a unit.
/// Source: cgroups(7), and the kernel's documents of version 2 (`cpu.max`) and version 1
/// (`cpu.cfs_quota_us`).
enum CPUQuota {
    /// In cores; nil without a limit.
    static func current() -> Double? {
        guard let groups = try? FilePaths.read("/proc/self/cgroup") else { return nil }
        return smallest(groups: String(decoding: groups, as: UTF8.self)) { path in
            (try? FilePaths.read(path)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The smallest limit of the process's groups and of those above them.
    /// - Parameters:
    ///   - groups: the text of /proc/self/cgroup.
    ///   - text: the text of a file; nil without one.
    static func smallest(groups: String, text: (String) -> String?) -> Double? {
        var limits: [Double] = []
        for line in groups.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isSecond = parts[1].isEmpty
            guard isSecond || parts[1].split(separator: ",").contains("cpu") else { continue }
            let root = isSecond ? "/sys/fs/cgroup" : "/sys/fs/cgroup/\(parts[1])"
            // In a container the path may be the one outside. Only its root is visible inside.
            var path = parts[2] == "/" ? "" : String(parts[2])
            while true {
                if let limit = isSecond ? second(text("\(root)\(path)/cpu.max")) : first(root + path, text) {
                    limits.append(limit)
                }
                guard let slash = path.lastIndex(of: "/") else { break }
                path = String(path[..<slash])
            }
        }
        return limits.min()
    }

    /// `200000 100000`, or `max 100000`.
    private static func second(_ text: String?) -> Double? {
        let numbers = (text ?? "").split { $0.isWhitespace }.map { Double($0) }
        guard numbers.count == 2, let quota = numbers[0], let period = numbers[1] else { return nil }
        return limit(quota, period)
    }

    private static func first(_ folder: String, _ text: (String) -> String?) -> Double? {
        func number(_ name: String) -> Double? {
            text("\(folder)/\(name)").flatMap { Double($0.filter { !$0.isWhitespace }) }
        }
        guard let quota = number("cpu.cfs_quota_us"), let period = number("cpu.cfs_period_us") else { return nil }
        return limit(quota, period)
    }

    private static func limit(_ quota: Double, _ period: Double) -> Double? {
        quota > 0 && period > 0 ? quota / period : nil
    }
}
