public import PushServices

/// The paces of a run to its first service: settings of one service, or as one service sees them (`ofService`).
extension RunSettings {
    /// The service's own pace, if none that was chosen takes its place. A limit holds beside all others but one that stands with the service's
    /// keys, as only that says what the app bought.
    public var usualPace: ServicePace? {
        guard let usual = firstService.service.usualPace, firstService.appPace == nil else { return nil }
        let isChosen = firstService.pace != nil || devicePace != nil || appDevicePace != nil
        return usual.isLimit || !isChosen ? usual : nil
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
