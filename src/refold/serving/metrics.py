"""Figures for Prometheus: requests by route, and what the parts count. None in a fold's loop."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client import Gauge as GaugeOfClient
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from refold.serving.part import Gauge

__all__ = ["METRICS_TYPE", "Metrics"]

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNMATCHED = "unmatched"
"""The route of requests that met none: their paths are strangers' texts, and no labels."""
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """The figures of one server; nothing is shared between two in one process."""

    def __init__(self, gauges: Iterable[Callable[[], Iterable[Gauge]]] = ()) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "refold_http_requests",
            "Answers by method, route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "refold_http_request_seconds",
            "Time from the first byte asked to the last one answered.",
            ("route",),
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._of_answer: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.running = GaugeOfClient(
            "refold_http_running", "Requests under way.", registry=self.registry
        )
        self.registry.register(_Gauges(tuple(gauges)))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        key = (method if method in _METHODS else "other", route or UNMATCHED, status)
        found = self._of_answer.get(key)
        if found is None:  # looking labels up costs as much as counting
            counter = self._requests.labels(key[0], key[1], str(status))
            found = self._of_answer[key] = (counter, self._seconds.labels(key[1]))
        found[0].inc()
        found[1].observe(seconds)

    def text(self) -> bytes:
        """Give all figures in the text format."""
        return generate_latest(self.registry)


class _Gauges(Collector):
    """Asks the parts when somebody looks."""

    def __init__(self, gauges: tuple[Callable[[], Iterable[Gauge]], ...]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        """Give what each part counts; a part that cannot say is left out, the others are not."""
        for ask in self._gauges:
            try:
                gauges = tuple(ask())
            except Exception:  # noqa: BLE001, S112 (figures of a broken part must not hide the rest)
                continue
            for gauge in gauges:
                yield GaugeMetricFamily(gauge.name, gauge.help, value=gauge.value)
