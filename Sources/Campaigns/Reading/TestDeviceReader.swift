import Base
import PushServices

/// Reads `test_devices` of an app: where `volley send --test` goes. Its messages never show a whole
/// token.
struct TestDeviceReader {
    /// The app.
    let section: Section
    /// Those of the app; empty if they are not known.
    let services: [any PushService]

    private var service: any PushService { services.first ?? PushServices.standard }
    private var targets: TargetForm { service.target }
    private var example: String { service.testDevicesExample }
    private var findings: Findings { section.findings }

    /// The devices, in the order of the file; what is wrong in them was reported.
    func devices() -> [TestDevice] {
        guard !services.isEmpty, let node = section.node("test_devices") else { return [] }
        guard case .sequence(let items) = node.content else {
            section.wrongKind("'test_devices'", node, must: "a list", example: example)
            return []
        }
        if items.isEmpty {
            findings.error(
                "'test_devices' is an empty list", at: node.position,
                remedy: "For example: \(example). Or remove the key.")
        }
        var first: [String: SourcePosition] = [:]
        return items.enumerated().compactMap { index, item in
            guard let device = device(item, number: index + 1) else { return nil }
            let shown = device.alias.map { "with the alias \(quoted($0))" } ?? "\(device.token)"
            let key = device.alias.map { "alias \($0)" } ?? device.token.text
            if let other = first[key] {
                findings.error(
                    "the test device \(shown) is already in line \(other.line)", at: device.position,
                    remedy: "Keep one of them.")
                return nil
            }
            first[key] = device.position
            return device
        }
    }

    private func device(_ node: YAMLNode, number: Int) -> TestDevice? {
        let usualName = "device \(number)"
        guard case .mapping = node.content else {
            guard let text = section.text(node, subject: "an entry of 'test_devices'", example: targets.exampleStart)
            else { return nil }
            return token(text).map {
                TestDevice(
                    name: usualName, token: $0.token, service: $0.service, language: nil, cells: [:],
                    position: node.position)
            }
        }
        let token = "token: \(targets.exampleStart)"
        let example = "{name: \(service.phoneExample), \(token)}"
        guard
            let device = Section(
                node, ProjectKeys.testDevice, of: ProjectKeys.file, example: example, findings: findings)
        else {
            return nil
        }
        let name = device.text("name", example: "name: \(service.phoneExample)")
        let language = device.text("language", example: "language: de").flatMap { tag($0) }
        let cells = readCells(device)
        if device.node("alias") != nil {
            guard let alias = device.text("alias", example: "alias: user4711") else { return nil }
            for key in ["token", ProjectKeys.service] where device.node(key) != nil {
                findings.error(
                    "'\(key)' and 'alias' are both given: the exports say which devices an alias has",
                    at: device.place(of: key), remedy: "Remove one of them.")
            }
            return TestDevice(
                name: name?.value ?? usualName, token: Target(normalized: ""), service: 0, alias: alias.value,
                language: language, cells: cells, position: alias.position)
        }
        let named = device.choice(ProjectKeys.service, services.enumerated().map { ($1.name, $0) })
        guard let found = device.requiredText("token", example: token).flatMap({ self.token($0, of: named) }) else {
            return nil
        }
        return TestDevice(
            name: name?.value ?? usualName, token: found.token, service: found.service, language: language,
            cells: cells,
            position: device.place(of: "token"))
    }

    /// - Parameter service: the number of its service; nil for the first one with targets that look
    ///   like it.
    private func token(_ text: SourceText, of service: Int? = nil) -> (token: Target, service: Int)? {
        let typed = text.value.trimmingSpaces()
        for number in services.indices where service == nil || service == number {
            if let token = services[number].target.target(typed) { return (token, number) }
        }
        let targets = services[service ?? 0].target
        if let flaw = targets.flaw(of: typed) {
            findings.error(flaw, at: text.position, remedy: "\(targets.rule); put it in quotes.")
        }
        return nil
    }

    private func tag(_ text: SourceText) -> String? {
        if LanguageTag.normalized(text.value) != nil { return text.value }
        findings.error(
            "\(quoted(text.value)) is not a language", at: text.position,
            remedy: "Write a language tag such as de, pt-BR or zh-Hans.")
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
