"""Property tests without a deadline: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("no_deadline", parent=settings(), deadline=None)
settings.load_profile("no_deadline")
