"""The store of cold trials: messages of the log, their texts, the tree over them, checkpoints.

See `tables` for what stands where, `reading` and `tree` for what is read, `model` for what comes
out. Only `refold.trials.log` writes messages.
"""
