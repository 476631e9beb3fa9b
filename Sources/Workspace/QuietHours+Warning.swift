package import Base

extension QuietHours {
    /// A warning that devices would get a push in these hours: `3 devices are in the quiet hours
    /// 22:00-08:00, and would get it anyway`.
    package func sentInThem(_ count: Int) -> String {
        "\(TextFormat.counted(count, one: "device is", many: "devices are")) in the quiet hours \(self), and would get it anyway"
    }
}
