import Base

/// Reads `proxy` of volley.yaml, which is at the top level for all apps, or in one of them. Its messages never hold a password.
struct ProxyReader {
    /// Where `proxy` is.
    let section: Section

    private static let example = "proxy: http://proxy.example.com:3128"

    private var findings: Findings { section.findings }

    /// What `proxy` says; nil when absent, or reported.
    func setting() -> ProxySetting? {
        guard let node = section.node("proxy") else { return nil }
        if case .mapping = node.content { return group(node) }
        guard let text = section.text("proxy", example: Self.example) else { return nil }
        if text.value.lowercased() == "none" { return ProxySetting.none(text.position) }
        guard let address = address(text) else { return nil }
        return .through(ProxyReference(address: address, position: text.position))
    }

    private func group(_ node: YAMLNode) -> ProxySetting? {
        let example = "proxy: {url: \"http://proxy.example.com:3128\", user: volley, password_env: PROXY_PASSWORD}"
        guard let proxy = Section(node, ProjectKeys.proxy, of: ProjectKeys.file, example: example, findings: findings) else { return nil }
        let user = proxy.text("user", example: "user: volley")
        let variable = proxy.variableName("password_env", of: "password", example: "PROXY_PASSWORD")
        guard let url = proxy.requiredText("url", example: "url: \"http://proxy.example.com:3128\""), var address = address(url) else {
            return nil
        }
        if let user {
            if address.user != nil {
                findings.error("the proxy's user is in its url too", at: user.position, remedy: "Keep one of the two.")
            }
            address.user = user.value
        }
        if let variable { check(variable, address) }
        return .through(ProxyReference(address: address, position: url.position, passwordVariable: variable))
    }

    private func check(_ variable: SourceText, _ address: ProxyAddress) {
        if address.password != nil {
            findings.error("the proxy's password is in its url too", at: variable.position, remedy: "Remove it from the url.")
        } else if address.user == nil {
            findings.error("the proxy's password has no user to go with it", at: variable.position, remedy: "Add user: NAME.")
        } else if !address.takesPassword {
            findings.error(
                "\(address.scheme.rawValue) takes a user, but no password", at: variable.position, remedy: "Remove it, or use socks5h.")
        }
    }

    private func address(_ text: SourceText) -> ProxyAddress? {
        do throws(Mistake) {
            let address = try ProxyAddress(text.value)
            if address.password != nil {
                findings.warning(
                    .passwordInFile, message: "everyone who reads this file can see the password of the proxy \(address)",
                    at: text.position,
                    remedy: "Keep it in an environment variable: proxy: {url: \"\(address.scheme.rawValue)://\(address)\", user: NAME, "
                        + "password_env: PROXY_PASSWORD}.")
            }
            return address
        } catch {
            findings.error(error.message, at: text.position, remedy: error.remedy)
            return nil
        }
    }
}
