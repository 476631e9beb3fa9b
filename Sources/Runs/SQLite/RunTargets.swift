import PushServices

/// What the targets of a run's recipients must be: each in the form that its service accepts.
package struct RunTargets {
    private var services: ServiceCursor
    /// By the numbers of services.
    private let forms: [KeptTargets]
    private var form: KeptTargets

    package init(_ plan: RunPlan) {
        services = ServiceCursor(plan)
        forms = plan.services.map(\.target.kept)
        form = forms[0]
    }

    /// Whether a text may be the target of a recipient.
    @inline(__always) package mutating func contains(_ text: UnsafeBufferPointer<UInt8>, of id: Int) -> Bool {
        if services.move(to: id) { form = forms[services.service] }
        return form.contains(text)
    }

    /// The number of the service of the recipient that was looked up last.
    package var service: Int { services.service }
}
