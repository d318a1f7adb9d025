"""Settings for all tests: compilation may exceed any deadline, and CI must not depend on luck."""

from hypothesis import settings

settings.register_profile("onesided", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("onesided")
