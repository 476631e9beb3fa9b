import Base

/// Whether the volley.yaml that is found from a campaign's file, by its name and behind its links, demands approval of what its app sends: neither
/// `--config` nor a link leads past that. Nothing else of it counts, as it may be another project's.
public enum ApprovalDemand: Hashable, Sendable {
    /// It demands none, has no such app, or there is none.
    case none
    /// The file that demands it.
    case made(by: String)
    /// Nobody can tell: the file, or the campaign's folder, may be away for a moment only. Why, as a clause.
    case unknown(String)

    /// Whether nothing may be sent that nobody approved.
    public var binds: Bool { self != .none }

    /// - Parameter realFile: the campaign's file with its links resolved. Its folder may be gone, as after a rotation.
    public init(app: String, campaignFile: String, realFile: String) {
        self = .none
        for file in [campaignFile, realFile] {
            guard self == .none, let project = Project.find(startingAt: FilePaths.folder(of: file)) else { continue }
            do throws(Diagnostics) {
                if try Project.read(file: project).0.app(named: app)?.needsApproval ?? false { self = .made(by: project) }
            } catch { self = .unknown("\(project), the nearest to the campaign, cannot be read") }
        }
    }
}
