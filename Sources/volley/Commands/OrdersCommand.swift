import Base
import Campaigns
import Reports
import Runs
import Workspace

/// `volley orders`: lists what people ordered in the console.
public enum OrdersCommand {
    /// Lists orders, oldest first.
    /// - Parameter count: the number of orders to show, the newest; at least 1.
    public static func run(last count: Int, options: CommonOptions, console: Console) throws -> ExitStatus {
        guard count > 0 else {
            throw Diagnostic("--last needs a number of orders, at least 1", remedy: "For example: --last 100.")
        }
        let catalog = try Project.presentCatalog(options.project)
        let newest = try catalog.orders.read(atMost: count < .max ? count + 1 : count)
        let list = OrderList(newest, last: count, isAtWork: catalog.schedule.isAtWork, at: .now())
        try options.isJSON
            ? console.out(list.json) : console.out(list.text(width: console.width, colour: console.colour))
        return .done
    }
}
