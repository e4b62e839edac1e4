"""Published attacks, tried against a gateway from outside."""
