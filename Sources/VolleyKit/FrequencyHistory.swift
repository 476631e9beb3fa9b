import Audience
import Base
import Runs

/// How often the devices of an app got a push lately, from the run files of earlier campaigns.
struct FrequencyHistory {
    let app: String
    /// Pushes count for plans to the same APNs only: a rehearsal against the simulator reached nobody.
    let environment: FrozenEnvironment
    let caps: [FrequencyCap]
    let now: Timestamp

    /// Devices that may get no more; nil without caps.
    /// - Throws: `Diagnostic` when a run cannot be read: not to know whom it reached would mean to push once more to somebody.
    func cappedDevices(beside suppressed: SuppressedDevices?, runsFolder: String) throws -> CappedDevices? {
        guard let longest = caps.map(\.seconds).max() else { return nil }
        let (runs, broken) = try RunStore.runs(ofApp: app, reachingSince: now.adding(seconds: -Double(longest)), in: runsFolder)
        if let broken = broken.first {
            let remedy = (broken.remedy.map { $0 + " " } ?? "") + "Without 'frequency' in campaign and volley.yaml the file is not needed."
            throw Diagnostic(
                "whom a run reached is not known, and \(caps[0]) was asked for: \(broken.message)", file: broken.file, remedy: remedy)
        }
        let starts = caps.map { now.adding(seconds: -Double($0.seconds)) }
        return try CappedDevices(caps, beside: suppressed) { add in
            for run in runs {
                let settings = try RunSettings(json: run.plan.settings, runFile: run.path)
                // Nobody notices a background push.
                guard settings.environment.listName == environment.listName, settings.pushType != .background else { continue }
                try run.forEachReached { token, moment in add(token) { cap in moment.map { $0 > starts[cap] } ?? true } }
                run.close()
            }
        }
    }
}
