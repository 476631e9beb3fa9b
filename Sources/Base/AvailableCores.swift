import Glibc

/// The cores that this process may use, at least 1: `taskset` and containers allow fewer than the machine has.
public func availableCores() -> Int {
    let machine = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    guard let status = fopen("/proc/self/status", "r") else { return machine }
    defer { fclose(status) }
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), status) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("Cpus_allowed:") else { continue }
        // Groups of eight hex digits, separated by commas, with a bit for each core.
        return max(1, min(machine, text.dropFirst(13).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }))
    }
    return machine
}
