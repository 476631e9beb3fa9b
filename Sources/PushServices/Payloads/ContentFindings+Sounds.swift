import Base

/// Sounds that Android and iPhones play: one name for both.
extension ContentFindings {
    /// What Android calls a sound: a resource of the app, without the ending that iPhones need. Source: Android, "App resources overview".
    static func androidSound(_ sound: SourceText) -> SourceText {
        var sound = sound
        if let ending = ending(of: sound) { sound.value.removeLast(ending.count + 1) }
        return sound
    }

    /// What follows the last full stop that does not belong to a template.
    private static func ending(of sound: SourceText) -> Substring? {
        let plain = sound.value.lastIndex(of: "}").map { sound.value[sound.value.index(after: $0)...] } ?? sound.value[...]
        return plain.lastIndex(of: ".").map { plain[plain.index(after: $0)...] }
    }

    /// Notes a sound that one of the systems does not play.
    mutating func checkSound(_ sound: SourceText) {
        guard sound.value != "default" else { return }
        let ending = Self.ending(of: sound)
        if ending == nil, sound.isTemplate {
            return error(
                "the ending of the sound must stand behind its template, because Android needs the name without it", at: sound.position,
                remedy: "For example: sound: \"{{ tone }}.caf\", with a column that holds the name alone.")
        }
        let name = Self.androidSound(sound).value
        if !sound.isTemplate, !name.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_").contains) {
            // Source: Android, "App resources overview": file names are lower-case letters, digits and underscores.
            warning(
                .soundNotPlayable, message: "Android has no sound '\(name)': its names are lower-case letters, digits and underscores",
                at: sound.position, remedy: "Rename the file in both apps, for example: sound: spring_sale.\(ending ?? "caf").")
        } else if let ending, !Self.endingsOfPhones.contains(ending.lowercased()) {
            warning(
                .soundNotPlayable, message: "the sound '\(sound.value)' is not in a format that iPhones play, so they play their usual one",
                at: sound.position, remedy: "End it in .caf, .aiff or .wav; Android finds its own file of that name.")
        }
    }

    /// Source: Apple, "Preparing custom alert sounds".
    private static var endingsOfPhones: [String] { ["aiff", "aif", "wav", "caf"] }
}
