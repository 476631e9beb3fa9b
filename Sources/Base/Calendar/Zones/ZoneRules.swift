import Glibc

/// What clocks in one zone show, at any moment.
///
/// ```swift
/// let shanghai = try ZoneDatabase.system.zone(named: "Asia/Shanghai")
/// let clock = shanghai.localTime(at: now).timeOfDay
/// ```
public struct ZoneRules: Hashable, Sendable {
    /// The name in the tz database: `Europe/Berlin`.
    public let name: String
    private let transitions: [Int64]
    private let offsets: [Int]
    private let firstOffset: Int
    private let footer: PosixZone?

    /// The most seconds by which a zone may differ from UTC, in either direction: RFC 9636, section
    /// 3.2, requires more than -25 and less than 26 hours.
    static let largestOffset = 26 * 3600

    init(name: String, _ file: ZoneFile) {
        self.name = name
        transitions = file.transitions
        offsets = file.offsets
        firstOffset = file.firstOffset
        footer = file.footer
    }

    /// A zone without a file.
    init(name: String, _ rule: PosixZone) {
        self.name = name
        (transitions, offsets) = ([], [])
        firstOffset = rule.standardOffset
        footer = rule
    }

    /// Universal time, which needs no database.
    public static let utc = ZoneRules(name: "UTC", PosixZone(standardOffset: 0))

    /// Seconds east of UTC.
    public func offset(at moment: Timestamp) -> Int { offset(atSecond: moment.epochSeconds) }

    /// What a clock shows at a moment, without seconds.
    public func localTime(at moment: Timestamp) -> LocalTime {
        LocalTime(minutes: LocalTime.quotient(Int(moment.epochSeconds) + offset(at: moment), divisor: 60))
    }

    /// When a clock shows a time: once, never (skipped when clocks go forward), or twice (when they
    /// go back). Ascending.
    public func moments(of local: LocalTime) -> [Timestamp] {
        let wall = Int64(local.minutes) * 60
        var candidates = changes(around: wall).flatMap { [$0.before, $0.after] }
        candidates.append(offset(atSecond: wall))
        return Set(candidates).map { wall - Int64($0) }.filter { $0 + Int64(offset(atSecond: $0)) == wall }.sorted()
            .map { Timestamp(epochSeconds: $0) }
    }

    /// When something planned for a time happens: at the first moment with that time or, if clocks
    /// skip it, at the first moment after the gap.
    public func firstMoment(of local: LocalTime) -> Timestamp {
        if let first = moments(of: local).first { return first }
        let wall = Int64(local.minutes) * 60
        let gap = changes(around: wall).first { $0.at + Int64($0.before) <= wall && wall < $0.at + Int64($0.after) }
        return Timestamp(epochSeconds: gap?.at ?? wall - Int64(offset(atSecond: wall)))
    }

    /// When the clocks change, after `start` and up to `end`.
    public func changes(after start: Timestamp, through end: Timestamp) -> [Timestamp] {
        changes(after: start.epochSeconds, through: end.epochSeconds).map { Timestamp(epochSeconds: $0.at) }
    }

    private func changes(around wall: Int64) -> [(at: Int64, before: Int, after: Int)] {
        let reach = Int64(Self.largestOffset)
        return changes(after: wall - reach - 1, through: wall + reach)
    }

    private func changes(after start: Int64, through end: Int64) -> [(at: Int64, before: Int, after: Int)] {
        guard start < end else { return [] }
        var moments: [Int64] = []
        var index = firstTransition(after: start)
        while index < transitions.count, transitions[index] <= end {
            moments.append(transitions[index])
            index += 1
        }
        if let footer, end > transitions.last ?? .min {
            let years = PosixZone.year(of: max(start, transitions.last ?? start)) - 1...PosixZone.year(of: end) + 1
            moments += footer.changes(inYears: years).map(\.at).filter {
                $0 > max(start, transitions.last ?? .min) && $0 <= end
            }
        }
        return moments.map { ($0, offset(atSecond: $0 - 1), offset(atSecond: $0)) }.filter { $0.1 != $0.2 }
    }

    private func offset(atSecond second: Int64) -> Int {
        let next = firstTransition(after: second)
        if next == transitions.count, let footer { return footer.offset(at: second) }
        return next == 0 ? firstOffset : offsets[next - 1]
    }

    /// Index of the first transition later than a moment.
    private func firstTransition(after second: Int64) -> Int {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The zone of this machine, found where the C library finds it. Source: tzset(3), and the C
/// library's `__tzset_parse_tz` for rules.
///
/// Where the C library takes UTC for what it cannot read, this throws: the date would be the wrong
/// one for hours of each day.
extension ZoneDatabase {
    /// What the variable TZ says or, without it, /etc/localtime. A blank TZ is UTC, and so is a
    /// missing /etc/localtime. It is read each time: /etc/localtime changes with `timedatectl`, and
    /// zones with the package tzdata.
    /// - Throws: a `Mistake` that shows what cannot be read.
    public var machineZone: ZoneRules {
        get throws(Mistake) { try machineZone(EnvironmentVariables["TZ"]) }
    }

    /// For times that are shown with the name of their zone: UTC if this machine's zone cannot be
    /// read.
    public var displayZone: ZoneRules { (try? machineZone) ?? .utc }

    /// Refuses a named pipe in the place of this machine's zone. The C library opens it in its
    /// first call about the time, even for UTC (`tzset_internal`), and would block for ever. Call
    /// it when a process begins.
    public func refusePipe() throws(Diagnostic) { try refusePipe(EnvironmentVariables["TZ"]) }

    func refusePipe(_ variable: String?, usualFile: String = "/etc/localtime") throws(Diagnostic) {
        var file = usualFile
        if let variable {
            let text = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            file = text.hasPrefix("/") ? text : "\(folder)/\(text)"
        }
        guard FileKind(path: file) == .namedPipe else { return }
        throw Diagnostic(
            "the time zone of this machine cannot be read: this is \(FileKind.namedPipe.text), not a file", file: file,
            remedy: variable == nil
                ? "Choose the zone with `timedatectl set-timezone`, or set TZ."
                : "Set TZ to a zone, for example TZ=Europe/Berlin.")
    }

    /// - Parameter variable: the value of TZ; nil if it is not set.
    func machineZone(_ variable: String?, usualFile: String = "/etc/localtime") throws(Mistake) -> ZoneRules {
        guard let variable else { return try usualZone(usualFile) }
        // A colon leaves the meaning of the rest to the C library, which ignores the colon.
        let text = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if text.isEmpty { return .utc }
        if text == usualFile { return try usualZone(usualFile) }
        let bytes = Self.bytes(of: text.hasPrefix("/") ? text : "\(folder)/\(text)")
        if let bytes, let file = ZoneFile(bytes) {
            return ZoneRules(name: text.hasPrefix("/") ? Self.name(of: text) : text, file)
        }
        if let bytes, ZoneFile.countsLeapSeconds(bytes) { throw Self.leapSeconds("TZ is \(Self.shown(variable))") }
        if let rule = PosixZone(variable: text) { return ZoneRules(name: text, rule) }
        if ZoneAbbreviation.isUniversal(text) { return .utc }
        let what =
            bytes != nil || text.hasPrefix("/")
            ? Self.flaw(of: text, bytes)
            : "is neither a zone in \(folder) nor a rule such as CET-1CEST,M3.5.0,M10.5.0/3"
        throw Self.unreadable(
            "TZ is \(Self.shown(variable)), which \(what)",
            remedy: names().count < 10
                ? Self.databaseRemedy
                : "Set TZ to a zone, for example TZ=\(suggestion(for: text)), or remove it from the environment: then /etc/localtime counts."
        )
    }

    private func usualZone(_ path: String) throws(Mistake) -> ZoneRules {
        var status = stat()
        if lstat(path, &status) != 0, errno == ENOENT { return .utc }
        let name = Self.name(of: path)
        let bytes = Self.bytes(of: path)
        if let bytes, let file = ZoneFile(bytes) { return ZoneRules(name: name, file) }
        if let bytes, ZoneFile.countsLeapSeconds(bytes) {
            throw Self.leapSeconds("\(path) is \(name == path ? "a zone" : Self.shown(name))")
        }
        // Containers without a database have a link that leads nowhere, to Etc/UTC.
        if ZoneAbbreviation.isUniversal(name) { return .utc }
        let what =
            name == path
            ? "\(path) \(Self.flaw(of: path, bytes))"
            : "\(path) leads to the zone \(Self.shown(name)), which \(bytes == nil ? Self.flaw(of: path, nil) : "is damaged")"
        throw Self.unreadable(
            what,
            remedy: access(path, R_OK) != 0 && errno == EACCES
                ? "Let every user read the file and the folders above it: `chmod a+r FILE`, `chmod a+x FOLDER`; or set TZ."
                : "Choose the zone with `timedatectl set-timezone`, install the package tzdata, or set TZ.")
    }

    /// Why a file is of no use, continuing a sentence that names it.
    private static func flaw(of path: String, _ bytes: [UInt8]?) -> String {
        guard bytes == nil else { return "is no file of a time zone" }
        do throws(FileError) { _ = try RegularFile.bytes(of: path, atMost: 0) } catch {
            guard case .system(let code) = error else { return "is no file of a time zone" }
            return code == ENOENT
                ? "is not there"
                : code == EACCES ? "may not be read by this user" : "cannot be read: \(SystemError.words(code))"
        }
        return "is too large for a time zone"
    }

    /// The name of a zone where a path shows it: what follows `zoneinfo/` in the path or in that of
    /// a link on the way. Otherwise the path.
    private static func name(of path: String) -> String {
        var next = path
        // As many links as the system follows.
        for _ in 0..<40 {
            if let folder = next.firstRange(of: "zoneinfo/") {
                let name = String(next[folder.upperBound...])
                if isName(name.hasPrefix("right/") ? String(name.dropFirst(6)) : name) { return name }
            }
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink(next, &buffer, buffer.count)
            guard length > 0 else { break }
            let target = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            next = target.hasPrefix("/") ? target : FilePaths.join(FilePaths.folder(of: next), name: target)
        }
        return path
    }

    /// Zones that a text probably means. An abbreviation may mean several places, and another
    /// abbreviation is no hint.
    private func suggestion(for text: String) -> String {
        if let places = ZoneAbbreviation.places(text) { return places.joined(separator: " or TZ=") }
        return nearestZone(to: text).flatMap { $0.contains("/") ? $0 : nil } ?? "Europe/Berlin"
    }

    private static func shown(_ text: String) -> String { "'\(TextFormat.foreign(String(text.prefix(80))))'" }

    private static func unreadable(_ what: String, remedy: String) -> Mistake {
        Mistake("the time zone of this machine cannot be read: \(what)", remedy: remedy)
    }

    private static func leapSeconds(_ what: String) -> Mistake {
        unreadable(
            "\(what), which counts leap seconds",
            remedy: "Name the same zone without 'right/': the clocks of machines leave leap seconds out.")
    }
}
