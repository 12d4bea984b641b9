"""The whole server: the parts put together, and the home page."""
