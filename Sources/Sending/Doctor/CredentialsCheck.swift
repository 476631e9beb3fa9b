import Workspace
package import Base
import Cryptography
import Glibc
import Runs

/// Whether key or certificate can be used at all, as far as this machine can tell.
package struct CredentialsCheck {
    let settings: RunSettings
    package let now: Timestamp

    func step() -> CheckStep {
        if let certificate = settings.certificate { return step(certificate) }
        if let key = settings.key { return step(key) }
        guard settings.environment == .simulator else {
            return .failed("key", "the app has neither key nor certificate", remedy: "Add `key:` to the app in volley.yaml.")
        }
        return .ok("key", "none is needed: the simulator gets one of its own for each run")
    }

    private func step(_ reference: FrozenKey) -> CheckStep {
        do {
            _ = try SigningKey(file: reference.file)
            var message = "\(reference.file): P-256, id \(reference.keyID), team \(reference.teamID)"
            var remedies: [String] = []
            if let warning = SigningKey.permissionWarning(file: reference.file) {
                message += "; \(warning.message)"
                if let remedy = warning.remedy { remedies.append(remedy) }
            }
            if let named = Self.keyID(inName: reference.file), named != reference.keyID {
                message += "; the file is named after the key \(named)"
                remedies.append("Check `id` in volley.yaml: it must be the id of this key.")
            }
            return .ok("key", message, remedy: remedies.isEmpty ? nil : remedies.joined(separator: " "))
        } catch {
            return .failed("key", error)
        }
    }

    /// `AuthKey_ABC123DEFG.p8`, as Apple names it.
    package static func keyID(inName file: String) -> String? {
        let name = file.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        let isID = id.utf8.count == 10 && id.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
        return isID ? String(id) : nil
    }

    private func step(_ reference: FrozenCertificate) -> CheckStep {
        do {
            let certificate = try ClientCertificate(file: reference.file, passphrase: reference.passphrase(), now: now)
            if let step = wrongTopic(certificate) { return step }
            var message = "\(reference.file): '\(certificate.commonName)', valid until \(certificate.notAfter)"
            var remedies: [String] = []
            for warning in [ClientCertificate.permissionWarning(file: reference.file), certificate.expiryWarning(now: now)] {
                guard let warning else { continue }
                message += "; \(warning.message)"
                if let remedy = warning.remedy { remedies.append(remedy) }
            }
            return .ok("certificate", message, remedy: remedies.isEmpty ? nil : remedies.joined(separator: " "))
        } catch {
            return .failed("certificate", error)
        }
    }

    /// Apple names the topic in the certificate's user id and behind the colon of its common name (`Apple Push Services: com.example.shop`).
    private func wrongTopic(_ certificate: ClientCertificate) -> CheckStep? {
        let topic = settings.topic
        var named = certificate.userID
        if named.isEmpty, certificate.commonName.hasPrefix("Apple "), let colon = certificate.commonName.firstRange(of: ": ") {
            named = String(certificate.commonName[colon.upperBound...])
        }
        guard !named.isEmpty, named != topic, !topic.hasPrefix(named + ".") else { return nil }
        return .failed(
            "certificate", "the certificate is for \(named), and the app's topic is \(topic)",
            remedy: "Name the certificate of this app in volley.yaml, or correct its topic.")
    }
}
