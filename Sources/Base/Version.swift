/// The version that `volley --version` prints; CHANGELOG.md lists the changes of each.
public let volleyVersion = "1.0.0"
