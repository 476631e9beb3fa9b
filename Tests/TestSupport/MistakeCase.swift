public import Foundation
import Synchronization

/// A campaign with a mistake that people make, and what Volley says about it. They are in
/// Tests/Snapshots/mistakes/TOPIC.txt:
///
///     ==== 17-wrong-app
///     name: spring-sale
///     app: Shop
///     $ volley check campaign.yaml
///     campaign.yaml:2:6: there is no app 'Shop' in volley.yaml. Did you mean 'shop'?
///
/// A blank line separates two cases. A character that cannot be seen is written as in Swift,
/// `\u{200B}`, also a blank at the end of a line. A campaign that is not UTF-8 is a file of its
/// own, campaigns/NAME.yaml, and its case begins with the output.
public struct MistakeCase: Sendable, CustomStringConvertible {
    /// The name of its file.
    public let topic: String
    /// `17-wrong-app`: the number is that of one case only.
    public let name: String
    /// campaign.yaml.
    public let campaign: Data
    /// The output of `volley check` and, if that finds no mistake, of `volley preview`; nil if it
    /// was not recorded yet.
    public let expected: String?

    /// Its name.
    public var description: String { name }

    /// What the app `shop` of volley.yaml has, other than its topic.
    public static let app = "environment: simulator\ndevices: exports/devices.csv"

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Snapshots/mistakes").standardizedFileURL
    private static let command = "$ volley check campaign.yaml\n"
    private static let recording = Mutex(())

    /// The exports and lists that the campaigns name, by their names.
    private static let exports: [(name: String, content: Data)] = names(in: "exports").compactMap { name in
        (try? Data(contentsOf: folder.appendingPathComponent("exports/\(name)"))).map { (name, $0) }
    }

    /// The topics that have a file, in order.
    public static var topics: [String] { names(in: ".").filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) } }

    /// The cases of a topic, in the order of its file.
    public static func all(of topic: String) -> [MistakeCase] {
        ((try? blocks(of: topic)) ?? []).dropFirst().map { MistakeCase(topic, block: $0) }
    }

    private init(_ topic: String, block: String) {
        self.topic = topic
        name = String(block.prefix { $0 != "\n" })
        let lines = String(block.dropFirst(name.count))
        let output = lines.range(of: "\n" + Self.command)
        expected = output.map { Self.unescaped(lines[$0.lowerBound...].dropFirst()) }
        let campaign = output.map { lines[..<$0.lowerBound] + "\n" } ?? lines[...]
        self.campaign =
            campaign == "\n"
            ? (try? Data(contentsOf: Self.folder.appendingPathComponent("campaigns/\(name).yaml"))) ?? Data()
            : Data(Self.unescaped(campaign.dropFirst()).utf8)
    }

    /// Writes campaign.yaml, and the exports that it may name, into a folder.
    public func write(into project: URL) throws {
        try campaign.write(to: project.appendingPathComponent("campaign.yaml"))
        let exports = project.appendingPathComponent("exports")
        try FileManager.default.createDirectory(at: exports, withIntermediateDirectories: true)
        for file in Self.exports { try file.content.write(to: exports.appendingPathComponent(file.name)) }
    }

    /// The output of both commands as it is recorded.
    /// - Parameter preview: nil where `check` found a mistake.
    public static func transcript(check: String, preview: String?) -> String {
        // The hash is meaningless to people, and changes with the version of the rules.
        let shown = preview?.split(separator: "\n", omittingEmptySubsequences: false).filter {
            !$0.hasPrefix("Plan hash")
        }
        return command + check + (shown.map { "\n$ volley preview campaign.yaml\n" + $0.joined(separator: "\n") } ?? "")
    }

    /// Adds the output to the case's file.
    /// - Returns: the file.
    public func record(_ transcript: String) throws -> String {
        let file = Self.file(of: topic)
        try Self.recording.withLock { _ in
            let blocks = try Self.blocks(of: topic).map {
                $0.hasPrefix(name + "\n") ? $0 + Self.escaped(transcript) : $0
            }
            try blocks.joined(separator: Self.start).dropFirst().write(to: file, atomically: true, encoding: .utf8)
        }
        return file.path
    }

    /// The lines in which the output differs from what is expected, `-` before those that are
    /// missing and `+` before new ones; nil if none does.
    public func difference(from transcript: String) -> String? {
        guard let expected,
            let changes = Snapshot.lineChanges(from: Self.escaped(expected), to: Self.escaped(transcript))
        else {
            return nil
        }
        return "\(name) in \(Self.file(of: topic).path):\n\(changes)"
    }

    // MARK: The files

    private static let start = "\n==== "

    private static func file(of topic: String) -> URL { folder.appendingPathComponent("\(topic).txt") }

    private static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: Self.folder.appendingPathComponent(folder).path)) ?? [])
            .sorted()
    }

    /// The text before the first case, which must be empty, and the cases without their marks.
    private static func blocks(of topic: String) throws -> [String] {
        try ("\n" + String(contentsOf: file(of: topic), encoding: .utf8)).components(separatedBy: start)
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing(/\\u\{([0-9A-F]+)\}/) { match -> String in
            guard let value = UInt32(match.output.1, radix: 16), let scalar = Unicode.Scalar(value) else {
                return String(match.output.0)
            }
            return String(scalar)
        }
    }

    private static func escaped(_ text: String) -> String {
        let scalars = Array(text.replacing("\\u{", with: "\\u{5C}u{").unicodeScalars)
        var escaped = ""
        for (place, scalar) in scalars.enumerated() {
            let endsLine = place + 1 < scalars.count && scalars[place + 1] == "\n"
            if isHidden(scalar, endsLine: endsLine) {
                escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func isHidden(_ scalar: Unicode.Scalar, endsLine: Bool) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\n"
        case .spaceSeparator: scalar != " " || endsLine
        case .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
