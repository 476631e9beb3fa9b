import Base

extension AudienceQuery {
    /// The numbers of the query's selectors.
    struct Selectors: Sendable {
        /// Tags that select, numbered from 0: those of `anyTags`, then those of `allTags`, each once.
        var tags: [String] = []
        /// Rows selected only by lacking each of `noneTags`.
        var noneOnly: UInt32?
        var alias: UInt32?
        var registrationID: UInt32?
        var everyone: UInt32?
        var names: [String] = []
    }

    var selectors: Selectors {
        var selectors = Selectors()
        func add(_ name: String) -> UInt32 {
            selectors.names.append(name)
            return UInt32(selectors.names.count - 1)
        }
        var seen: Set<String> = []
        for tag in (anyTags + allTags).map(trimmedText) where !tag.isEmpty && seen.insert(tag).inserted {
            selectors.tags.append(tag)
            _ = add("tag:\(tag)")
        }
        if selectors.tags.isEmpty, !noneTags.isEmpty { selectors.noneOnly = add("tags") }
        if !aliases.isEmpty { selectors.alias = add("alias") }
        if !registrationIDs.isEmpty { selectors.registrationID = add("registration_id") }
        if everyone { selectors.everyone = add("everyone") }
        return selectors
    }

    /// The selectors in the order of `AudienceResult.selectedBy`: `tag:NAME` for each tag of `anyTags`, then of `allTags` (`tags` when
    /// only `noneTags` select), `alias`, `registration_id`, `everyone`; only those that the query uses.
    public var selectorNames: [String] { selectors.names }
}

/// Text without the white space at its edges.
func trimmedText(_ text: String) -> String {
    var text = text
    return text.withUTF8 { String(decoding: trimmed($0), as: UTF8.self) }
}
