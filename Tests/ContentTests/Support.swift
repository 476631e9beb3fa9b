import Base
import Content

/// A place in the imagined campaign `c.yaml`.
func at(_ line: Int, _ column: Int = 1) -> SourcePosition { SourcePosition(file: "c.yaml", line: line, column: column) }

/// Text in double quotes at column 8 of a line, as after `title: `.
func quoted(_ text: String, line: Int = 1) -> SourceText { SourceText(text, at: at(line, 8), style: .doubleQuoted) }

/// Plain text at column 1.
func plain(_ text: String, line: Int = 1) -> SourceText { SourceText(text, at: at(line)) }

/// Content with its `content:` on line 1.
func content<Failure: Error>(_ fill: (inout MessageContent) throws(Failure) -> Void) throws(Failure) -> MessageContent {
    var content = MessageContent(position: at(1))
    try fill(&content)
    return content
}

/// A payload by hand or data from JSON; every node is on its own line, counted from 10 in writing
/// order.
func node(_ json: String) throws -> ContentNode {
    var line = 9
    func convert(_ value: JSONValue) -> ContentNode {
        line += 1
        let place = at(line)
        return switch value {
        case .null: .null(place)
        case .bool(let value): .bool(value, place)
        case .integer(let value): .integer(value, place)
        case .double(let value): .double(value, place)
        case .string(let text): .text(SourceText(text, at: place))
        case .array(let values): .array(values.map(convert), place)
        case .object(let members):
            .object(
                members.map { member in
                    ContentMember(SourceText(member.name, at: at(line + 1, 3)), convert(member.value))
                }, place)
        }
    }
    return convert(try JSONValue(parsing: json))
}

/// The mistakes in content, one per line.
func mistakes(_ content: MessageContent) -> String {
    do throws(Diagnostics) {
        _ = try PayloadTemplate(content)
        return ""
    } catch { return error.description }
}

/// The mistakes in a body text that is unquoted at 1:1.
func mistakes(_ text: String) -> String { mistakes(content { $0.body = plain(text) }) }

/// The payload for a device with these cells by column; a failure as text.
func payload(_ content: MessageContent, _ cells: [String: String] = [:], language: String = "") throws -> String {
    let template = try PayloadTemplate(content)
    var bytes: [UInt8] = []
    if let failure = template.render(template.columns.map { cells[$0.value] ?? "" }, language: language, into: &bytes) {
        return "\(failure)"
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// The body that a device with these cells gets; a failure as text.
func body(_ text: String, _ cells: [String: String] = [:], language: String = "") throws -> String {
    let rendered = try payload(content { $0.body = plain(text) }, cells, language: language)
    return (try? JSONValue(parsing: rendered))?["aps"]?["alert"]?["body"]?.stringValue ?? rendered
}
