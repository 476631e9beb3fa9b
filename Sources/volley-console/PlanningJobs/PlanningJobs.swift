import Automation
import Base
import CLinux
import Glibc
import Synchronization
import Workspace

/// What children of the console find out about campaigns, and how long it stays valid. The number
/// of children at a time is limited.
final class PlanningJobs: Sendable {
    /// What a child found out.
    struct Result: Sendable {
        /// As it wrote it.
        var output: String
        /// Whether the campaign has mistakes that made an answer impossible.
        var hasMistakes: Bool
        var at: Timestamp

        /// A piece of a page: the child escaped what is in it. Data of a child is none
        /// (`PlanningJobs.unreadable`).
        var piece: HTML { HTML(stringLiteral: output) }
    }

    /// What is asked.
    struct Question: Hashable, Sendable {
        var kind: PlanningChild.Question
        var file: String
        /// What the child reads: the device that it is about, or a text that is not saved yet;
        /// blank for neither.
        var input = ""
        /// The person, if the answer is only for them; blank if it is the same for all.
        var person = ""
        /// The exports that it is about, as they are named, where the rest of the campaign makes no
        /// difference.
        var exports: [String] = []
        /// The digest of volley.yaml, and of the campaign file if its text makes a difference:
        /// another text is another question.
        var stamps: [FileStamp?]

        /// Whether another one is about a newer text of the same campaign.
        func isReplaced(by other: Question) -> Bool { kind == .draft && other.kind == .draft && file == other.file }
    }

    private struct Job {
        var begun: ContinuousClock.Instant
        var ended: ContinuousClock.Instant?
        /// The person with the first request; nil for no particular person.
        var asker: String?
        /// Ends its child; nil where the system has no room for it.
        var cancellation: Cancellation?
        var result: Result?
    }

    private let jobs = Mutex<[Question: Job]>([:])
    private let pool: WorkPool
    private let choice: ProjectChoice
    private let folder: String
    private let program: String

    /// How long a child may take, by the clock.
    private static let timeouts = Duration.seconds(120)
    /// How long an answer stays valid, as exports change.
    private static let timeToLive = Duration.seconds(300)
    /// How long a failure is repeated as the answer: an export may be complete a moment later.
    private let mistakeTimeToLive: Duration
    /// How many answers are remembered.
    private static let most = 40
    /// How many questions of one person may be open, whatever they are about: half of what the pool
    /// takes, which is also its limit for one person.
    private static let mostOfOne = 6
    /// How many of these may be for that person alone, as their answers help no other person.
    private static let mostPrivate = 2
    private static let longestPiece = 16 << 20

    /// - Parameters:
    ///   - program: the console's own binary.
    ///   - mistakeTimeToLive: how long a failure is remembered.
    init(
        folder: String, choice: ProjectChoice, program: String = "/proc/self/exe",
        mistakeTimeToLive: Duration = .seconds(15)
    ) {
        (self.folder, self.choice, self.program, self.mistakeTimeToLive) = (folder, choice, program, mistakeTimeToLive)
        pool = WorkPool(threads: 2, waiting: 10)
    }

    /// The answer, if it is already known; otherwise finding it begins. What a person types is
    /// about the newest text: an earlier one of the same campaign that is still being looked at is
    /// given up.
    /// - Parameter asker: the person, so that people take turns.
    /// - Throws: `Refusal.busy` when too much is being found out, for all or for this person.
    func answer(to question: Question, for asker: String?) throws -> Result? {
        let now = ContinuousClock.now
        let (isNew, cancellation) = try jobs.withLock { jobs -> (Bool, Cancellation?) in
            jobs = jobs.filter { isGood($0.value, at: now) }
            if jobs[question] != nil { return (false, nil) }
            for (other, job) in jobs where job.result == nil && job.asker == asker && other.isReplaced(by: question) {
                job.cancellation?.request()
                if job.cancellation != nil { jobs[other] = nil }
            }
            let own = jobs.filter { $0.value.result == nil && $0.value.asker == asker }
            guard !pool.isFull, own.count < Self.mostOfOne else { throw Refusal.busy }
            let isPrivate = !question.person.isEmpty
            guard !isPrivate || own.keys.count(where: { !$0.person.isEmpty }) < Self.mostPrivate else {
                throw Refusal.busy
            }
            if jobs.count >= Self.most,
                let oldest = jobs.filter({ $0.value.result != nil }).min(by: { $0.value.begun < $1.value.begun })
            {
                jobs[oldest.key] = nil
            }
            let cancellation = try? Cancellation()
            jobs[question] = Job(begun: now, asker: asker, cancellation: cancellation)
            return (true, cancellation)
        }
        if isNew {
            Task {
                let result = try? await pool.run(for: asker) { [self] in work(on: question, until: cancellation) }
                jobs.withLock { jobs in
                    // A question that was given up may have been asked again.
                    guard jobs[question]?.begun == now else { return }
                    jobs[question]?.result = result ?? Self.failed("The console is busy. Try again in a few seconds.")
                    jobs[question]?.ended = .now
                    jobs[question]?.cancellation = nil
                }
            }
        }
        return jobs.withLock { $0[question]?.result }
    }

    /// The answer, if it is already known. Nothing is begun.
    func known(_ question: Question) -> Result? {
        jobs.withLock { jobs in jobs[question].flatMap { isGood($0, at: .now) ? $0.result : nil } }
    }

    /// Whether an answer is still valid. The time of a failure counts from its end: otherwise a
    /// question that was given up after two minutes would never show it.
    private func isGood(_ job: Job, at now: ContinuousClock.Instant) -> Bool {
        guard let result = job.result, let ended = job.ended else { return true }
        return result.hasMistakes ? now - ended < mistakeTimeToLive : now - job.begun < Self.timeToLive
    }

    /// Has it found out again.
    func forget(_ question: Question) { jobs.withLock { if $0[question]?.result != nil { $0[question] = nil } } }

    private static func failed(_ words: HTML) -> Result {
        Result(output: stop(words).markup, hasMistakes: true, at: .now())
    }

    private static func stop(_ words: HTML) -> HTML { "<p class=\"stop\">\(words)</p>" }

    /// In place of data that cannot be read: it is not escaped.
    static let unreadable = stop(
        "What was counted cannot be read. Try again in five minutes; if it stays so, ask the people who run Volley.")

    /// Starts a child, and waits for its end.
    private func work(on question: Question, until cancellation: Cancellation?) -> Result {
        guard cancellation?.isRequested != true else { return Self.failed("This was given up.") }
        let output = AtomicFile.openWithoutName(inFolder: "/tmp", mode: 0o600)
        let input = AtomicFile.openWithoutName(inFolder: "/tmp", mode: 0o600)
        defer { for descriptor in [output, input] where descriptor >= 0 { close(descriptor) } }
        guard output >= 0, input >= 0, WriteAll.write(Array(question.input.utf8), to: input) == 0,
            lseek(input, 0, SEEK_SET) == 0
        else {
            return Self.failed("There is no room for the answer on the console's machine.")
        }
        let arguments =
            [program, folder, "--answer", question.kind.rawValue, "--about", question.file]
            + (choice.file.map { ["--config", $0] } ?? []) + (choice.runs.map { ["--runs", $0] } ?? [])
        guard
            let child = try? ChildProgram.start(
                arguments, environment: ChildProgram.environmentOfSupervised, input: input, output: output)
        else { return Self.failed("The console cannot start the program that reads exports.") }
        guard let status = Self.wait(for: child, until: cancellation) else {
            if cancellation?.isRequested == true { return Self.failed("This was given up.") }
            return Self.failed(
                "This took longer than \(TextFormat.span(seconds: Self.timeouts.components.seconds)) and was given up. The people who run Volley can preview the campaign without this limit."
            )
        }
        var bytes = [UInt8](repeating: 0, count: Self.longestPiece)
        let count = pread(output, &bytes, bytes.count, 0)
        let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -1
        guard count >= 0, code == 0 || code == PlanningChild.hasMistakes else {
            return Self.failed(
                "Finding this out ended before its time; perhaps it needs more memory than a page may take.")
        }
        return Result(output: String(decoding: bytes.prefix(count), as: UTF8.self), hasMistakes: code != 0, at: .now())
    }

    /// The child's status; nil if it had to be killed.
    private static func wait(for child: pid_t, until cancellation: Cancellation?) -> Int32? {
        let ended = volley_open_process(child)
        defer { if ended >= 0 { close(ended) } }
        let end = ContinuousClock.now + timeouts
        var status: Int32 = 0
        // If the system does not report the end of a process, it is polled.
        var looks = Retries(atMost: Int(timeouts / .milliseconds(lookMilliseconds)), milliseconds: lookMilliseconds)
        while waitpid(child, &status, WNOHANG) != child {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            var polled = [ended, cancellation?.descriptor ?? -1].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let isLate =
                left <= 0 || cancellation?.isRequested == true
                || (ended >= 0 ? poll(&polled, 2, Int32(left.rounded(.up))) == 0 : !looks.pause())
            guard isLate else { continue }
            kill(-child, SIGKILL)
            waitpid(child, &status, 0)
            return nil
        }
        return status
    }

    private static let lookMilliseconds = 20
}
