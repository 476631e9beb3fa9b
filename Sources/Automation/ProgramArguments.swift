import CLinux

/// What this program was started with.
public enum ProgramArguments {
    /// The arguments, without the program's name. They do not depend on /proc, as those of
    /// `CommandLine` do.
    public static let all: [String] = {
        let given = volley_program_arguments()
        return (0..<Int(given.count)).dropFirst().compactMap { given.texts[$0].map { String(cString: $0) } }
    }()
}
