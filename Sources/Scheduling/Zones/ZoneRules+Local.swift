import Glibc

extension ZoneDatabase {
    /// The zone of this machine: `TZ`, otherwise what /etc/localtime names; UTC if neither can be read.
    public var machineZone: ZoneRules {
        if let named = getenv("TZ").map({ String(cString: $0) }), !named.isEmpty {
            let name = named.hasPrefix(":") ? String(named.dropFirst()) : named
            return (try? zone(named: name)) ?? .utc
        }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/etc/localtime", &buffer, Int(PATH_MAX))
        let path = length > 0 ? String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
        guard let folder = path.range(ofText: "zoneinfo/") else { return .utc }
        return (try? zone(named: String(path[folder...]))) ?? .utc
    }
}

extension String {
    /// Where the text after `part` begins.
    fileprivate func range(ofText part: String) -> Index? {
        indices.first { self[$0...].hasPrefix(part) }.flatMap { index($0, offsetBy: part.count, limitedBy: endIndex) }
    }
}
