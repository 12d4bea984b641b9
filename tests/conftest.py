"""Settings for every test: hypothesis profiles."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fast", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("full", parent=settings.get_profile("fast"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
