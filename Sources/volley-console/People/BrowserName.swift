import Base

/// What people call the browser that calls itself something long. It is a guess that helps to know one's own sessions, and decides nothing.
enum BrowserName {
    /// The first that is found counts: browsers name others that they are compatible with after themselves.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"), ("Mac OS X", "Mac"),
        ("Linux", "Linux"),
    ]

    /// `Firefox on Windows`; of an unknown program its first 60 characters.
    static func words(_ agent: String) -> String {
        guard !agent.isEmpty else { return "not known" }
        guard let browser = browsers.first(where: { agent.contains($0.0) })?.1 else {
            return TextFormat.printable(String(agent.prefix(60)))
        }
        return systems.first { agent.contains($0.0) }.map { "\(browser) on \($0.1)" } ?? browser
    }
}
