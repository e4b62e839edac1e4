"""Published attacks, run against a gateway from outside."""
