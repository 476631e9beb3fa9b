/// A key of `content` that is about the push itself. A service need not have all of them.
public enum ContentKey: String, CaseIterable, Sendable {
    case title, subtitle, body, sound, badge, category, thread, image, link, data, wakeApp = "wake_app", silent, payload

    /// Those that make a push visible or audible, in the order in which people are told of them.
    public static let visible: [ContentKey] = [.title, .body, .badge, .sound]

    /// Those that can be taken away from what devices of a service get: `image: null`.
    public static let removable: Set<ContentKey> = [.title, .subtitle, .body, .sound, .badge, .category, .thread, .image, .link, .data]
}
