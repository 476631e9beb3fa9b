import Base

@testable import Content

/// Templates: whatever compiles renders the same from texts and from escaped cells, as JSON that
/// contains what the tags say.
///
/// The first byte selects the kind of input. Usually that is a title, a body and the cells of a
/// device, separated by `^`.
func fuzzTemplate(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let choice = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    if choice & 3 == 3 { return try requireExactCells(rest) }
    let parts = rest.split(separator: UInt8(ascii: "^"), omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
    let styles: [SourceText.Style] = [.plain, .singleQuoted, .doubleQuoted, .literal, .folded]
    let texts = parts.prefix(2).map { SourceText($0, at: place, style: styles[Int(choice >> 2) % styles.count]) }
    var content = MessageContent(position: place)
    if choice & 3 == 2 {
        guard let value = try? JSONValue(parsing: parts[0]) else { return }
        content.payload = node(value, at: place)
    } else {
        content.title = texts[0]
        content.body = texts.last
        if choice & 1 != 0 { content.image = SourceText("https://" + parts[0], at: place) }
    }
    let template: PayloadTemplate
    do throws(Diagnostics) {
        template = try PayloadTemplate(content)
    } catch {
        try require(!error.all.isEmpty && error.all.allSatisfy { !$0.message.isEmpty }, "refused without a reason")
        return
    }
    let cells = template.columns.indices.map { parts.count > 2 ? parts[2 + $0 % (parts.count - 2)] : "" }
    // The remaining bits of the choice, and the length, select a language, so that old inputs keep
    // their meaning.
    try check(template, cells, languages[(Int(choice >> 5) * 7 + rest.count) % languages.count], content)
}

/// One of every kind: common and rare plural rules, digits and cases, a variant, an unknown
/// language, none.
private let languages = [
    "", "en", "de", "tr", "el", "nl", "ru", "ar-EG", "fa", "ja", "hi", "pt-PT", "zh_Hant-TW", "xx", "es", "fi",
]

private func check(
    _ template: PayloadTemplate, _ cells: [String], _ language: String, _ content: MessageContent
) throws(FuzzFinding) {
    var payload: [UInt8] = []
    let failure = template.render(cells, language: language, into: &payload)
    let before = Array("{}".utf8)
    var appended = before
    let escapedFailure = renderEscaped(template, cells, language, &appended)
    try require(
        failure == escapedFailure, "\(String(describing: failure)) and, escaped, \(String(describing: escapedFailure))")
    try require(appended == before + (failure == nil ? payload : []), "escaped cells give other bytes")
    if let failure, failure.skipReason == .renderError {
        try require(payload.isEmpty, "bytes of a payload that was not rendered")
    }
    if failure == nil {
        try require(payload.count <= template.byteLimit, "\(payload.count) bytes are too many")
        guard (try? JSONValue(parsing: payload)) != nil else {
            throw FuzzFinding(description: "no JSON: \(String(decoding: payload, as: UTF8.self))")
        }
    }
    guard content.payload == nil, let title = content.title, let body = content.body else { return }
    let values = Dictionary(uniqueKeysWithValues: zip(template.columns.map(\.value), cells))
    try compare(
        payload, failure, [("title", title), ("body", body)], ReferenceTemplate(cells: values, language: language))
}

/// Title and body as the slow way writes them; if that fails, the payload must have failed, too.
private func compare(
    _ payload: [UInt8], _ failure: RenderFailure?, _ texts: [(String, SourceText)], _ reference: ReferenceTemplate
) throws(FuzzFinding) {
    let json = failure == nil ? try? JSONValue(parsing: payload) : nil
    for (name, text) in texts {
        var parser = TemplateParser(text)
        let nodes = parser.parse()
        let expected: String
        do throws(ReferenceTemplate.Failure) {
            expected = try reference.text(nodes)
        } catch {
            // With an image, either may fail first, because its text is not filled in here.
            guard let failure else { throw FuzzFinding(description: "\(name) was rendered in spite of \(error)") }
            try require(failure.skipReason == .renderError, "\(failure) instead of \(error)")
            continue
        }
        guard let json else { continue }
        let found = json["aps"]?["alert"]?[name]?.stringValue
        // Compared as bytes: texts that Unicode calls equal are not.
        try require(
            found.map { Array($0.utf8) } == Array(expected.utf8),
            "\(name): \(found ?? "nothing") instead of \(expected)")
    }
}

private func renderEscaped(_ template: PayloadTemplate, _ cells: [String], _ language: String, _ bytes: inout [UInt8])
    -> RenderFailure?
{
    Array(JSONValue.array(cells.map(JSONValue.string)).text.utf8).withUnsafeBufferPointer { json in
        var escaped = EscapedCells()
        precondition(escaped.locate(in: json), "cells as Volley itself writes them are refused")
        return Array(language.utf8).withUnsafeBufferPointer { template.append(escaped, language: $0, to: &bytes) }
    }
}

/// Cells are taken without decoding exactly if they are written as Volley itself writes them.
private func requireExactCells(_ bytes: [UInt8]) throws(FuzzFinding) {
    var escaped = EscapedCells()
    let isTaken = bytes.withUnsafeBufferPointer { escaped.locate(in: $0) }
    guard case .array(let values)? = try? JSONValue(parsing: bytes), values.allSatisfy({ $0.stringValue != nil }),
        Array(JSONValue.array(values).text.utf8) == bytes
    else { return try require(!isTaken, "cells are taken that Volley would write otherwise") }
    try require(isTaken && escaped.count == values.count, "cells are refused that stand as Volley writes them")
}

private func node(_ value: JSONValue, at place: SourcePosition) -> ContentNode {
    switch value {
    case .null: .null(place)
    case .bool(let value): .bool(value, place)
    case .integer(let value): .integer(value, place)
    case .double(let value): .double(value, place)
    case .string(let text): .text(SourceText(text, at: place))
    case .array(let values): .array(values.map { node($0, at: place) }, place)
    case .object(let members):
        .object(members.map { ContentMember(SourceText($0.name, at: place), node($0.value, at: place)) }, place)
    }
}
