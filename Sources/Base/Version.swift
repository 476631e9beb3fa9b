/// The version that `volley --version` prints; CHANGELOG.md lists the changes of each.
public let volleyVersion = "0.1.0"
