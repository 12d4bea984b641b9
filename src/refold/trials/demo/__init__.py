"""A demo node: a dozen trials and what became of them, posted as agents would, at made-up times."""
