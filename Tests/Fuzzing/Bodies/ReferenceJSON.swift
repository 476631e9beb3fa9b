import Base

@testable import Audience

/// JSON exports read slowly and obviously, for comparison with the readers.
struct ReferenceJSON {
    /// Keys of the values that become cells.
    let usedKeys: Set<String>
    /// The key among them that may hold a list.
    let tagsKey: String?
    /// Whether values may be objects.
    let takesObjects: Bool

    /// The parts of a file that the scan's query reads; nil if the file cannot be prepared, or
    /// contains no object.
    init?(_ input: ScanInput, _ path: String) {
        guard let file = try? ScanPreparation(input.query(path), limits: ReadingLimits()).files.first else {
            return nil
        }
        let names = file.plan.names(in: file.header)
        usedKeys = Set(names)
        tagsKey = file.plan.tagsCell.map { names[$0] }
        takesObjects = file.json.hasTypedValues
    }

    /// How many lines are not blank, and the numbers of those that are not rows; nil if this cannot
    /// be determined.
    func lines(_ text: [UInt8]) -> (rows: Int, badLines: [Int])? {
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            .filter {
                !$0.element.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } && !$0.element.starts(with: Self.firstLine)
            }
        guard !lines.contains(where: { Self.holdsHugeNumber(Array($0.element)) }) else { return nil }
        let bad = lines.filter { !isRow(try? JSONValue(parsing: Array($0.element))) }
        return (lines.count, bad.map { $0.offset + 1 })
    }

    /// What LeanCloud writes into the first line of a file.
    private static let firstLine = "#filetype:JSON-streaming".utf8

    /// The elements of a file that is a list, or an object that begins with one below `results`.
    static func elements(_ text: [UInt8]) -> [JSONValue]? {
        // Elements nest as deeply as those of JSON Lines; the array is one more level, and the
        // object another.
        switch try? JSONValue(parsing: text, maximumDepth: 66) {
        case .array(let elements): return elements
        case .object(let members):
            guard members.first?.name == "results", case .array(let elements)? = members.first?.value else {
                return nil
            }
            return elements
        default: return nil
        }
    }

    /// Whether `JSONValue` stops at a number beyond `Double`. Exports may contain such numbers,
    /// which stay texts there.
    static func holdsHugeNumber(_ text: [UInt8]) -> Bool {
        do throws(Mistake) {
            _ = try JSONValue(parsing: text, maximumDepth: 66)
            return false
        } catch { return error.message == "the number is too large" }
    }

    /// Whether a value is an object with texts for the used keys.
    func isRow(_ value: JSONValue?) -> Bool {
        guard case .object(let members)? = value, !Self.holdsNUL(.object(members)) else { return false }
        return members.allSatisfy { member in
            guard usedKeys.contains(member.name) else { return true }
            switch member.value {
            case .object: return takesObjects
            case .array(let items): return member.name == tagsKey && items.allSatisfy { !Self.isNested($0) }
            default: return true
            }
        }
    }

    private static func isNested(_ value: JSONValue) -> Bool {
        switch value {
        case .array, .object: true
        default: false
        }
    }

    private static func holdsNUL(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): text.utf8.contains(0)
        case .array(let items): items.contains(where: holdsNUL)
        case .object(let members): members.contains { $0.name.utf8.contains(0) || holdsNUL($0.value) }
        default: false
        }
    }
}
