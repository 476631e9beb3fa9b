import Accounts
import Base

/// Records downloads of whole device tokens, with the person.
enum TokenExport {
    /// Notes how many devices a file named, also when the person cancelled the download: the first
    /// part has already left the console.
    /// - Parameter write: writes the file, every part of it through the function that it gets, and
    ///   says how many devices it named.
    static func noting(
        app: String, run: String, _ visit: Visit, _ site: Site, _ write: (_ counted: ([UInt8]) -> [UInt8]) throws -> Int
    ) throws {
        var lines = 0
        let devices: Int
        do {
            devices = try write { part in
                lines += part.count { $0 == UInt8(ascii: "\n") }
                return part
            }
        } catch {
            // All parts that were begun, without the line of names: some may not have arrived, but
            // none arrived uncounted.
            if lines > 1 { try site.note(.tokensExported(rows: lines - 1), app: app, subject: run, visit) }
            throw error
        }
        try site.note(.tokensExported(rows: devices), app: app, subject: run, visit)
    }
}
