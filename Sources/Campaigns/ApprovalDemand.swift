import Base

/// Whether the volley.yaml found from a campaign's file, by its name and with its links resolved,
/// requires approval of what its app sends. Neither `--config` nor a link gets around that. Nothing
/// else in it counts, as it may belong to another project.
public enum ApprovalDemand: Hashable, Sendable {
    /// The file demands no approval or has no such app, or there is no such file.
    case none
    /// The file that demands it.
    case made(by: String)
    /// Not known: the file, or the campaign's folder, may be missing only for a moment. Says why,
    /// as a clause.
    case unknown(String)

    /// Whether nothing may be sent without approval.
    public var binds: Bool { self != .none }

    /// - Parameter realFile: the campaign's file with its links resolved. Its folder may be gone,
    ///   as after a rotation.
    public init(app: String, campaignFile: String, realFile: String) {
        self = .none
        for file in [campaignFile, realFile] {
            guard self == .none, let project = Project.find(startingAt: FilePaths.folder(of: file)) else { continue }
            do throws(Diagnostics) {
                if try Project.read(file: project).0.app(named: app)?.needsApproval ?? false {
                    self = .made(by: project)
                }
            } catch { self = .unknown("\(project), the nearest to the campaign, cannot be read") }
        }
    }
}
