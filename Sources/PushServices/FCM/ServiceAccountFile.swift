import Base

/// The file with which a service account proves its identity. Source: Google Cloud, "Create and
/// delete service account keys".
enum ServiceAccountFile {
    private static let newKey =
        "Get a new one from the Firebase console: Project settings, Service accounts, Generate new private key."

    /// Reads it. No mistake shows a value, as each may be the key.
    @Sendable static func key(_ file: JSONValue) throws(Mistake) -> AssertionKey {
        guard case .object = file else {
            throw Mistake("it is not the file of a service account, which is a JSON object", remedy: newKey)
        }
        try checkKind(file)
        let (email, keyID) = (try text("client_email", in: file), try text("private_key_id", in: file))
        let (project, pem) = (try text("project_id", in: file), try text("private_key", in: file))
        if let hidden = [email, keyID, project].joined().unicodeScalars.first(where: {
            $0.value > 0x7F && Blank.isInvisible($0)
        }) {
            let name =
                email.unicodeScalars.contains(hidden)
                ? "client_email" : keyID.unicodeScalars.contains(hidden) ? "private_key_id" : "project_id"
            throw Mistake(
                "'\(name)' of the service account's file holds an invisible character (\(TextFormat.codePoint(hidden)))",
                remedy: "Remove it, or copy the file again from where you downloaded it, as a file, not as text.")
        }
        guard let at = email.firstIndex(of: "@"), email[at...].contains("."), !email.contains(where: \.isWhitespace)
        else {
            throw Mistake(
                "'client_email' of the service account's file is not an address: it was cut off or changed",
                remedy: newKey)
        }
        guard keyID.utf8.count >= 8, keyID.utf8.allSatisfy(ASCIISet.lettersAndDigits.contains) else {
            throw Mistake(
                "'private_key_id' of the service account's file is not a key's id: it was cut off or changed",
                remedy: newKey)
        }
        return AssertionKey(issuer: email, keyID: keyID, privateKeyPEM: try checked(pem), topic: project)
    }

    /// Other files that Google gives out, as people take one for another.
    private static func checkKind(_ file: JSONValue) throws(Mistake) {
        if file["project_info"] != nil || file["configuration_version"] != nil {
            throw Mistake(
                "it is google-services.json, which belongs into an Android app and sends nothing", remedy: newKey)
        }
        if file["installed"] != nil || file["web"] != nil {
            throw Mistake("it is the secret of an OAuth client, with which people sign in", remedy: newKey)
        }
        if file["apiKey"] != nil || file["messagingSenderId"] != nil {
            throw Mistake("it is the configuration of a web app, which sends nothing", remedy: newKey)
        }
        guard let kind = file["type"] else { throw Mistake("the service account's file has no 'type'", remedy: newKey) }
        switch kind.stringValue {
        case "service_account": return
        case "authorized_user":
            throw Mistake(
                "it holds the login of a person (authorized_user), as gcloud keeps it, not a service account",
                remedy: newKey)
        case "external_account", "external_account_authorized_user":
            throw Mistake(
                "it is for workload identity federation (external_account), which Volley does not support",
                remedy: newKey)
        case "impersonated_service_account":
            throw Mistake(
                "it borrows the rights of a service account (impersonated_service_account), which Volley does not support",
                remedy: newKey)
        case "gdch_service_account":
            throw Mistake("it is for Google Distributed Cloud (gdch_service_account), which has no FCM", remedy: newKey)
        default: throw Mistake("'type' of the service account's file is not 'service_account'", remedy: newKey)
        }
    }

    private static func text(_ name: String, in file: JSONValue) throws(Mistake) -> String {
        guard let value = file[name] else {
            throw Mistake("the service account's file has no '\(name)'", remedy: newKey)
        }
        guard let text = value.stringValue, !text.isEmpty else {
            throw Mistake("'\(name)' of the service account's file is not a text", remedy: newKey)
        }
        return text
    }

    /// The key with its first and last line. Whether OpenSSL can read what is in between shows when
    /// it signs.
    private static func checked(_ pem: String) throws(Mistake) -> String {
        let text = pem.trimmed
        if let flaw = PEMArmour.flaw(in: String(text)) {
            throw Mistake("in 'private_key' of the service account's file, \(flaw.message)", remedy: flaw.remedy)
        }
        guard text.hasPrefix("-----BEGIN PRIVATE KEY-----") else {
            throw Mistake(
                "'private_key' of the service account's file is not a private key in PEM: its first line is missing",
                remedy: newKey)
        }
        // A shell or a secret store turned `\n` into `\\n`.
        guard !text.contains("\\n") else {
            throw Mistake(
                "'private_key' of the service account's file holds \\n as two characters where its lines should end",
                remedy: "Store the file's text unchanged, without escaping it a second time.")
        }
        guard text.hasSuffix("-----END PRIVATE KEY-----") else {
            throw Mistake(
                "'private_key' of the service account's file is cut off: its last line is missing", remedy: newKey)
        }
        // By bytes: a String takes CR LF for one Character, which is not "\n".
        guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
            throw Mistake(
                "'private_key' of the service account's file has lost the ends of its lines",
                remedy: "Store the file's text unchanged, with \\n in 'private_key'.")
        }
        return pem
    }
}

extension String {
    fileprivate var trimmed: Substring {
        let start = drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
