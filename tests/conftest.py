"""Settings for every test: hypothesis profiles, and ears for Ctrl-C."""

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fast", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("full", parent=settings.get_profile("fast"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts its background jobs deaf to SIGINT, and the commands under test inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
