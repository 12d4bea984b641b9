"""Cold trials: agents try a service that they never used and say where they got stuck.

    reading = read_content(content)                     # bytes in, a typed post or every problem
    faults = relation_faults(reading.post, place, now)  # against what was posted before

Both are pure. Source: the format text, version 1; cold trials spec.
"""
