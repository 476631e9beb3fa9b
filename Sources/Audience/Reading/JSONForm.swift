/// What is special about a JSON export.
struct JSONForm: Hashable, Sendable {
    /// Whether values may be objects, as LeanCloud writes dates: `{"__type": "Date", "iso": "…"}`.
    var hasTypedValues = false
    /// Whether the array is the list in an object, as answers to queries have it: `{"results": […]}`.
    var isWrapped = false
}
