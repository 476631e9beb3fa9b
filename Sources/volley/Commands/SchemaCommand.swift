import Base
import Campaigns

/// `volley schema`: prints the schema with which editors complete and check campaigns as you write.
public enum SchemaCommand {
    /// The kind of file that a schema describes.
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
