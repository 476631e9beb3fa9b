import Base

/// The contents of lists, by their task ids, and how many targets an app has named for them in a day.
///
/// A task lives as long as its message. It is forgotten earlier when its owner asks, or after `IssuerSettings.listsPerTask` lists.
/// Source: docs.getui.com, RestAPI V2, "push", toList; the quota from a copy of "code" of 2022.
struct GetuiTasks {
    private struct Task {
        let app: String
        /// The `group_name` of its message; nil for none.
        let group: String?
        let end: Timestamp
        var lists = 0
    }

    private let mostLists: Int
    private let mostTargetsOfDay: Int
    private var tasks: [String: Task] = [:]
    private var named: [String: DayQuota] = [:]

    init(_ settings: IssuerSettings) { (mostLists, mostTargetsOfDay) = (settings.listsPerTask, settings.listTargetsPerDay) }

    /// Keeps the content of lists.
    mutating func keep(_ message: JSONValue, as id: String, app: String, now: Timestamp) {
        let seconds = Double(GetuiContent.lifeMilliseconds(of: message)) / 1000
        tasks[id] = Task(app: app, group: message["group_name"]?.stringValue, end: now.adding(seconds: seconds))
    }

    /// Forgets a task; false if the app has none of that id.
    mutating func remove(_ id: String, app: String) -> Bool {
        guard tasks[id]?.app == app else { return false }
        tasks[id] = nil
        return true
    }

    /// The group of a task's message.
    func group(of id: String?) -> String? { id.flatMap { tasks[$0]?.group } }

    /// Counts a list; the refusal if there is no such task, or the app has named too many targets today.
    mutating func take(_ id: String, targets: Int, app: String, now: Timestamp) -> GetuiReply? {
        guard let task = tasks[id], task.app == app, now < task.end, mostLists == 0 || task.lists < mostLists else {
            return .badParameter("taskid is invalid")
        }
        guard named[app, default: DayQuota(limit: mostTargetsOfDay)].take(targets, at: now) else { return .refusal(30008) }
        tasks[id]?.lists += 1
        return nil
    }
}
