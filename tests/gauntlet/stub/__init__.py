"""A gateway for tests with one switch for each weakness. Never deploy it."""
