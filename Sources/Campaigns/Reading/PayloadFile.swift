public import Base
public import PushServices

extension ContentNode {
    /// Reads a file that holds a payload as YAML, which includes JSON.
    /// - Parameter service: takes the push.
    /// - Throws: every mistake of the file at once; a file without `key: value` lines is one of
    ///   them.
    /// - Returns: always a `.object`, and warnings.
    public static func read(payloadFile file: String, for service: any PushService) throws(Diagnostics) -> (
        ContentNode, [Diagnostic]
    ) {
        let source = try openSource(file)
        let findings = Findings()
        let start = SourcePosition(file: file, line: 1, column: 1)
        var content = ContentNode.null(start)
        do throws(Diagnostic) {
            var composer = try YAMLComposer(source: source, findings: findings)
            if let root = try composer.document(), case .mapping = root.content {
                content = ContentNodeReader(findings: findings).node(root)
            } else {
                findings.error(
                    "the file holds no payload; a payload has 'key: value' lines", at: start,
                    remedy: "For example: \(service.rules.payloadExample).")
            }
        } catch {
            findings.fatal(error)
        }
        return (content, try findings.warnings())
    }
}

extension Expiry {
    /// Reads `0`, a length of time such as `4h`, or a date with a time, as `delivery.expires` of a
    /// campaign has it.
    /// - Throws: a `Diagnostic` that says how to write it.
    public init(notation: String) throws(Diagnostic) {
        do throws(Mistake) {
            self = try DeliveryReader.expiry(notation)
        } catch {
            throw Diagnostic(error.message, remedy: error.remedy)
        }
    }
}
