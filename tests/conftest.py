"""Settings that every test shares: hypothesis without deadlines (the machine is shared)."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "kgqa", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kgqa")
