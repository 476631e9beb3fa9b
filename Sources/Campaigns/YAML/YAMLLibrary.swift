import CYAML

/// The library that reads campaigns and volley.yaml.
public enum YAMLLibrary {
    /// The version that this process runs with: `0.2.5`; blank if it does not say.
    public static var version: String { yaml_get_version_string().map { String(cString: $0) } ?? "" }
}
