import Base

extension RunFolder {
    /// Cheap: no file is opened. Files that are no runs after all have a stamp, too.
    public func stamps() throws -> [String: RunStamp] {
        var stamps: [String: RunStamp] = [:]
        for name in try RunFile.names(in: place) where RunFile.isRun(name) {
            let path = RunFile.join(place, name: name)
            // One that was removed in between is no longer a run.
            guard let file = FileStamp(path: path) else { continue }
            stamps[String(name.dropLast(RunFile.suffix.count))] = RunStamp(file: file, log: FileStamp(path: path + "-wal"))
        }
        return stamps
    }
}
