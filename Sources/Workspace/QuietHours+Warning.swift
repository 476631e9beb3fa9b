import Base
package import Scheduling

extension QuietHours {
    /// That so many devices would get a push in these hours: `3 devices are in the quiet hours 22:00-08:00, and would get it all the same`.
    package func sentInThem(_ count: Int) -> String {
        "\(TextFormat.counted(count, "device is", "devices are")) in the quiet hours \(self), and would get it all the same"
    }
}
