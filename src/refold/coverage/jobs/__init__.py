"""Verification as work: jobs that wait, run and end, and the schedule that checks what is stored.

`worker` runs them, `schedule` says when a receipt is due, `pace` how often anybody may be asked,
`walker` walks. The tables are in `refold.coverage.store`.
"""
