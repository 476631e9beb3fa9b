/// The version that `volley --version` prints; CHANGELOG.md says what each brought.
public let volleyVersion = "0.1.0"
