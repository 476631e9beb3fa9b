import Base
import Campaigns

/// `volley schema`: what editors need to complete and check campaigns while they are written.
public enum SchemaCommand {
    /// Which file it is of.
    public enum Subject: Sendable {
        /// Campaign files.
        case campaign
        /// volley.yaml.
        case project
    }

    /// Prints a JSON Schema, draft 2020-12.
    public static func run(_ subject: Subject, console: Console) throws -> ExitStatus {
        try console.out(subject == .campaign ? CampaignSchema.document : ProjectSchema.document)
        return .done
    }
}
