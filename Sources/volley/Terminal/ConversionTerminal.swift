public import Base
public import Runs

/// Shows the conversion of older run files as a line on a terminal.
extension Console {
    /// Shows how far a conversion is, and removes the line at its end.
    public var conversionObserver: Observer<RunConversion> {
        Observer { conversion in
            guard !conversion.isOver else { return self.clearProgress() }
            let share = TextFormat.percent(Double(conversion.done) / Double(conversion.total))
            self.progress("converting  \(share)  \(conversion.place), which an older Volley wrote")
        }
    }
}
