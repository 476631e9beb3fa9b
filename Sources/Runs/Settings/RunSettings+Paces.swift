import Base
public import PushServices

/// The paces of a run to its first service: settings of one service, or as one service sees them
/// (`ofService`).
extension RunSettings {
    /// The service's own pace, if none that was chosen takes its place. A limit holds together with
    /// all others, except one given with the service's keys, as only that one says what the app
    /// bought.
    public var usualPace: ServicePace? {
        guard let usual = firstService.service.usualPace, firstService.appPace == nil else { return nil }
        let isChosen = firstService.pace != nil || devicePace != nil || appDevicePace != nil
        return usual.isLimit || !isChosen ? usual : nil
    }

    /// After how many seconds the rate reaches the pace that runs of the app share at the service,
    /// which is the app's for it or the service's own; 0 for at once. A slower pace is reached
    /// sooner, as the rate never rises faster than to the service's own pace; one of less than a
    /// tenth of that takes no service by surprise.
    public var rampSeconds: Double {
        guard let usual = firstService.service.usualPace else { return 0 }
        guard let own = firstService.appPace else { return usualPace?.rampSeconds ?? 0 }
        let part = own.perSecond / usual.pace.perSecond
        return part < 0.1 ? 0 : usual.rampSeconds * min(1, part)
    }

    /// The paces that hold for the service, whatever other services take.
    public var servicePaces: RequestPaces {
        let unit = firstService.service.batching.paceUnit
        var paces = RequestPaces(firstService.service.batching)
        for pace in [firstService.pace, firstService.appPace, usualPace?.pace] { paces.keep(pace, counting: unit) }
        return paces
    }

    /// All paces that requests to the service keep.
    public var paces: RequestPaces {
        var paces = servicePaces
        for pace in [devicePace, appDevicePace] { paces.keep(pace, counting: .targets) }
        return paces
    }
}
