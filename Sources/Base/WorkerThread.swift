import Glibc
import Synchronization

/// A thread with a result. Stages of a run block on queues and sockets for minutes: they get their
/// own threads instead of places in the pool of Swift concurrency.
///
/// ```swift
/// let sum = try WorkerThread("sum") { (1...1000).reduce(0, +) }
/// print(sum.join())
/// ```
public final class WorkerThread<Result: Sendable>: Sendable {
    private let thread: pthread_t
    private let slot: ResultSlot<Result>

    /// Starts the thread.
    /// - Parameters:
    ///   - name: as `top -H` and `perf` show it, at most 15 bytes.
    ///   - ended: rung once `isFinished`.
    /// - Throws: a `Diagnostic` if the system has no thread, or no memory for one; `body` is not
    ///   called then.
    public init(_ name: String, ringing ended: Wakeup? = nil, _ body: @escaping @Sendable () -> Result)
        throws(Diagnostic)
    {
        let slot = ResultSlot<Result>()
        self.slot = slot
        thread = try startThread {
            nameThisThread(name)
            let result = body()
            slot.value.withLock { $0 = result }
            ended?.wake()
        }
    }

    /// Whether `join` would return at once.
    public var isFinished: Bool { slot.value.withLock { $0 != nil } }

    /// Waits for the thread's end. Call it once.
    public func join() -> Result {
        pthread_join(thread, nil)
        guard let result = slot.value.withLock({ $0 }) else { preconditionFailure("a thread ended without a result") }
        return result
    }
}

/// Best effort: without /proc a thread keeps the program's name.
private func nameThisThread(_ name: String) {
    guard let file = fopen("/proc/thread-self/comm", "w") else { return }
    fputs(name, file)
    fclose(file)
}

/// Runs work on a thread that no code waits for, for example a lookup that may hang.
/// - Throws: a `Diagnostic` if the system has no thread; `body` is not called then.
public func detachThread(_ body: @escaping @Sendable () -> Void) throws(Diagnostic) {
    pthread_detach(try startThread(body))
}

extension Diagnostic {
    /// A thread that could not be started.
    /// - Parameter code: what pthread_create returned.
    public static func noThread(_ code: Int32) -> Diagnostic {
        Diagnostic(
            "Volley cannot start another thread: \(SystemError.words(code))",
            remedy:
                "Allow more threads or memory: `ulimit -u` and `ulimit -v`, TasksMax= of a systemd unit, or the limits of the container."
        )
    }
}

/// Where a thread leaves its result.
private final class ResultSlot<Result: Sendable>: Sendable {
    let value = Mutex<Result?>(nil)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func startThread(_ body: @escaping @Sendable () -> Void) throws(Diagnostic) -> pthread_t {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(ThreadBody(body))
    let code = pthread_create(
        &thread, nil,
        { pointer in
            if let pointer { Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run() }
            return nil
        }, argument.toOpaque())
    guard code == 0 else {
        argument.release()
        throw .noThread(code)
    }
    return thread
}

/// Threads that work on parts of a range of ids, together with the calling thread. They start with
/// the first range that has several parts, and sleep in between. A team belongs to one calling
/// thread.
///
/// ```swift
/// let counts = RangeThreads<Int>("count") { range, _ in .success(range.count) }
/// let total = try counts.run([0..<500, 500..<1200]).reduce(0, +)
/// ```
public final class RangeThreads<Part: Sendable> {
    /// The work on a part. It is called from several threads at the same time, each with its own
    /// number; the calling thread has 0.
    public typealias Work = @Sendable (_ range: Range<Int>, _ thread: Int) -> Result<Part, any Error>

    private struct Member {
        let jobs = BoundedQueue<Range<Int>>(capacity: 1)
        let parts = BoundedQueue<Result<Part, any Error>>(capacity: 1)
        var thread: WorkerThread<Void>?
    }

    private let name: String
    private let work: Work
    private var members: [Member] = []

    /// - Parameter name: of the threads, at most 15 bytes.
    public init(_ name: String, _ work: @escaping Work) { (self.name, self.work) = (name, work) }

    deinit {
        for member in members {
            member.jobs.close()
            member.thread?.join()
        }
    }

    /// Works on all ranges at the same time, on the first in the calling thread. If the system has
    /// no thread for a range, the calling thread works on it, too.
    /// - Returns: the parts in the order of the ranges.
    /// - Throws: the error of the first range that failed; work on all ranges has ended by then.
    public func run(_ ranges: [Range<Int>]) throws -> [Part] {
        for index in ranges.indices.dropFirst() where index > members.count { members.append(started(index)) }
        for (member, range) in zip(members, ranges.dropFirst()) where member.thread != nil { member.jobs.put(range) }
        var results = ranges.prefix(1).map { work($0, 0) }
        for (member, range) in zip(members, ranges.dropFirst()) {
            // A member answers every job.
            results.append(member.thread == nil ? work(range, 0) : member.parts.take() ?? work(range, 0))
        }
        return try results.map { try $0.get() }
    }

    private func started(_ number: Int) -> Member {
        var member = Member()
        member.thread = try? WorkerThread(name) { [jobs = member.jobs, parts = member.parts, work] in
            while let range = jobs.take() { parts.put(work(range, number)) }
        }
        return member
    }
}

/// How a range of ids is divided among threads: a value that decides, and starts no thread.
///
/// ```swift
/// let parts = RangeParts(unit: 1000, threads: 4).parts(of: 0..<250_000)
/// ```
public struct RangeParts {
    /// The least number of ids in a part; each part but the last has a multiple of it.
    private let unit: Int
    private let threads: Int

    /// - Parameters:
    ///   - unit: ids that stay together, such as those of a batch: a part has at least this many.
    ///   - threads: the threads that work on parts, including the calling one.
    public init(unit: Int, threads: Int) { (self.unit, self.threads) = (max(1, unit), max(1, threads)) }

    /// The parts of a range, in order: at most one for each thread, and as equal as whole units
    /// allow.
    public func parts(of range: Range<Int>) -> [Range<Int>] {
        let units = range.count / unit + (range.count % unit > 0 ? 1 : 0)
        let count = max(1, min(threads, units))
        return (0..<count).map { part in
            let (first, last) = (units * part / count, units * (part + 1) / count)
            return range.lowerBound + first
                * unit..<(part == count - 1 ? range.upperBound : range.lowerBound + last * unit)
        }
    }
}

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
