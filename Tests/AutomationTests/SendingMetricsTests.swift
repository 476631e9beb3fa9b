import Base
import Foundation
import Testing

@testable import Automation

/// The metrics of sending, and whether Prometheus' own tool and the files of docs/monitoring agree
/// with them.
@Suite("metrics of sending")
struct SendingMetricsTests {
    @Test("each answer falls into one bucket, and buckets count all that were as fast")
    func buckets() {
        var latencies = SendingMetrics.Latencies()
        for milliseconds in [0, 5, 6, 250, 251, 30_000, 31_000] { latencies.add(milliseconds: milliseconds) }
        #expect(latencies.counts == [2, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1])
        var text = MetricsText()
        text.histogram(
            "x_seconds", "X.", bounds: SendingMetrics.Latencies.bounds,
            [([("app", "a")], latencies.counts, latencies.seconds)])
        #expect(
            text.text.contains(
                "x_seconds_bucket{app=\"a\",le=\"0.005\"} 2\nx_seconds_bucket{app=\"a\",le=\"0.01\"} 3\n"))
        #expect(
            text.text.contains("x_seconds_bucket{app=\"a\",le=\"30\"} 6\nx_seconds_bucket{app=\"a\",le=\"+Inf\"} 7\n"))
        #expect(text.text.hasSuffix("x_seconds_sum{app=\"a\"} 61.512\nx_seconds_count{app=\"a\"} 7\n"))
    }
}
