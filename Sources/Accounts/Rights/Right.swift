/// Something that a person may do in the console or not. Every page and every order needs exactly one of these.
public enum Right: String, CaseIterable, Hashable, Sendable {
    /// Look at campaigns, calendars, runs and previews.
    case seeCampaigns = "see_campaigns"
    /// Write, copy and archive campaigns.
    case edit
    /// Send a campaign to the devices that are named for tests.
    case sendTests = "send_tests"
    /// Plan a campaign and ask for approval.
    case askForApproval = "ask_for_approval"
    /// Approve or reject a plan.
    case approve
    /// Send, pause, resume, cancel and retry runs, and skip scheduled times.
    case controlSending = "control_sending"
    /// Read reports, in which device tokens are cut.
    case readReports = "read_reports"
    /// Download device tokens in full, as CSV.
    case exportTokens = "export_tokens"
    /// See and change which devices are suppressed.
    case manageSuppression = "manage_suppression"
    /// Invite people, change their roles, disable their accounts, reset their passwords.
    case manageUsers = "manage_users"
    /// See the state of the machine, and who did what.
    case seeSystem = "see_system"

    /// Whether the person must have shown password and second factor within the last five minutes (`Session.isFresh`): what this right
    /// gives away cannot be taken back. Source: OWASP ASVS 4.0.3, 3.7.1.
    public var needsFreshSignIn: Bool {
        switch self {
        case .exportTokens, .manageUsers: true
        case .seeCampaigns, .edit, .sendTests, .askForApproval, .approve, .controlSending, .readReports, .manageSuppression, .seeSystem:
            false
        }
    }
}

/// What a person is to an app. Roles add up: who writes campaigns and approves those of others is editor and approver. That nobody approves
/// what they wrote or asked for is not a matter of roles; it holds for administrators, too.
public enum Role: String, CaseIterable, Hashable, Sendable {
    /// Looks, and changes nothing.
    case viewer
    /// Writes campaigns.
    case editor
    /// Approves campaigns and controls their sending.
    case approver
    /// May do everything.
    case administrator

    /// What this role may do: the only table of it.
    public var rights: Set<Right> {
        switch self {
        case .viewer: [.seeCampaigns, .readReports]
        case .editor: [.seeCampaigns, .readReports, .edit, .sendTests, .askForApproval]
        case .approver: [.seeCampaigns, .readReports, .sendTests, .approve, .controlSending]
        case .administrator: Set(Right.allCases)
        }
    }
}
