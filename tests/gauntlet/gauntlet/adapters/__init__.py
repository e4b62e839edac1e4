"""What the rows need to know about one gateway."""
