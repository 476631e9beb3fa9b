public import Base
public import PushServices

extension Campaign {
    /// Reads and checks the text of a campaign that a run file kept.
    /// - Parameters:
    ///   - source: the campaign's text.
    ///   - file: where it came from, for errors; the file itself is not read.
    ///   - services: those that take its pushes, at least one.
    ///   - now: an expiry before this moment is in the past.
    /// - Throws: every mistake at once.
    public static func read(
        source: String, file: String, services: [any PushService] = [PushServices.standard], now: Timestamp
    ) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let text: YAMLSource
        do throws(Diagnostic) {
            text = try YAMLSource(file: file, bytes: Array(source.utf8))
        } catch {
            throw Diagnostics(error)
        }
        return try read(text, services: services, now: now)
    }
}
