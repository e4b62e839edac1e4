"""The adapters: what the rows need for each kind of gateway."""
