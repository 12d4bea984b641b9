"""What every benchmark shares: CPU time of a process, a median, one line a figure."""

import argparse
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ParamSpec

P = ParamSpec("P")


@dataclass(frozen=True)
class Figure:
    """One figure of a run, against a baseline of the same run where it has one."""

    name: str
    value: float
    unit: str
    baseline: str = ""
    goal: str = ""

    def print(self, *, as_json: bool) -> None:
        """Print it as a JSON object or as a line."""
        if as_json:
            body = {"figure": self.name, "value": self.value, "unit": self.unit}
            print(json.dumps({**body, "baseline": self.baseline}), flush=True)
        else:
            baseline = f"  of {self.baseline}" if self.baseline else ""
            goal = f"  (goal {self.goal})" if self.goal else ""
            print(f"{self.name:36} {self.value:>14,.2f} {self.unit}{baseline}{goal}", flush=True)


def arguments(description: str) -> argparse.Namespace:
    """Read --quick and --json."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller, for a look")
    parser.add_argument("--json", action="store_true", help="one JSON object a figure")
    return parser.parse_args()


def cpu_seconds(command: Sequence[str]) -> float:
    """Run a command to its end and give the CPU seconds it took: other work does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(times: int, measure: Callable[P, float], *args: P.args, **kwargs: P.kwargs) -> float:
    """Give the median of several calls of a measurement."""
    return statistics.median(measure(*args, **kwargs) for _ in range(times))


def in_python(code: str, *args: str) -> list[str]:
    """Give the command that runs a piece of Python with arguments in this interpreter."""
    return [sys.executable, "-c", code, *args]
