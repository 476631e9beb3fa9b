import Base
import PushServices

/// Reads `test_devices` of an app: where `volley send --test` goes. Its messages never show a whole token.
struct TestDeviceReader {
    /// The app.
    let section: Section
    /// Takes the pushes.
    let service: any PushService

    private var targets: TargetForm { service.target }
    private var example: String { service.testDevicesExample }
    private var findings: Findings { section.findings }

    /// The devices, in the order of the file; what is wrong in them was reported.
    func devices() -> [TestDevice] {
        guard let node = section.node("test_devices") else { return [] }
        guard case .sequence(let items) = node.content else {
            section.wrongKind("'test_devices'", node, must: "a list", example: example)
            return []
        }
        if items.isEmpty {
            findings.error("'test_devices' is an empty list", at: node.position, remedy: "For example: \(example). Or remove the key.")
        }
        var first: [Target: SourcePosition] = [:]
        return items.enumerated().compactMap { index, item in
            guard let device = device(item, number: index + 1) else { return nil }
            if let other = first[device.token] {
                findings.error(
                    "the test device \(device.token) is already in line \(other.line)", at: device.position,
                    remedy: "Keep one of them.")
                return nil
            }
            first[device.token] = device.position
            return device
        }
    }

    private func device(_ node: YAMLNode, number: Int) -> TestDevice? {
        let usualName = "device \(number)"
        guard case .mapping = node.content else {
            guard let text = section.text(node, subject: "an entry of 'test_devices'", example: targets.exampleStart) else { return nil }
            return token(text).map { TestDevice(name: usualName, token: $0, language: nil, cells: [:], position: node.position) }
        }
        let token = "token: \(targets.exampleStart)"
        let example = "{name: \(service.phoneExample), \(token)}"
        guard let device = Section(node, ProjectKeys.testDevice, of: ProjectKeys.file, example: example, findings: findings) else {
            return nil
        }
        let name = device.text("name", example: "name: \(service.phoneExample)")
        let language = device.text("language", example: "language: de").flatMap { tag($0) }
        let cells = readCells(device)
        guard let token = device.requiredText("token", example: token).flatMap(self.token) else { return nil }
        return TestDevice(
            name: name?.value ?? usualName, token: token, language: language, cells: cells, position: device.place(of: "token"))
    }

    private func token(_ text: SourceText) -> Target? {
        let typed = text.value.trimmingSpaces()
        if let flaw = targets.flaw(of: typed) {
            findings.error(flaw, at: text.position, remedy: "\(targets.rule); put it in quotes.")
        }
        return targets.target(typed)
    }

    private func tag(_ text: SourceText) -> String? {
        if LanguageTag.normalized(text.value) != nil { return text.value }
        findings.error(
            "\(quoted(text.value)) is not a language", at: text.position, remedy: "Write a language tag such as de, pt-BR or zh-Hans.")
        return nil
    }

    private func readCells(_ device: Section) -> [String: String] {
        let example = "cells: {first_name: Anna}"
        guard let node = device.node("cells"),
            let entries = Section.entries(of: node, name: "cells", example: example, findings: findings)
        else { return [:] }
        var cells: [String: String] = [:]
        for entry in entries {
            // A cell may be blank: then the template's default is tried.
            guard let text = entry.value.text else {
                device.wrongKind("the cell \(quoted(entry.key.value))", entry.value, must: "a text", example: example)
                continue
            }
            cells[entry.key.value] = entry.value.isNull ? "" : text.value
        }
        return cells
    }
}
