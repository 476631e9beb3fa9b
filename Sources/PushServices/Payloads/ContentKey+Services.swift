public import Base

extension ContentKey {
    /// The key below one service of a campaign's content, as people write it:
    /// `services: {getui: {title: …}}`.
    public func below(_ service: any PushService, _ value: String) -> String {
        "services: {\(service.accountName): {\(rawValue): \(value)}}"
    }
}
