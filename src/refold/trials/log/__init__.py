"""The log of cold trials: appending, signing checkpoints, changing the key, verifying all of it."""
