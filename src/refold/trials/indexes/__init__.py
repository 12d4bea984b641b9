"""The indexes of a node: what its posts come to, by trial, service, day, runtime and key.

    fold = Fold(MemoryState(), sites)
    fold.add(entry, post)       # in the order of ids; post None for a text that was removed

`counting` says what is counted where, `rechecks` what is owed; `fold` keeps the rows, over any
`State`: `memory` is one, `refold.trials.store.indexstate` the other. All of it is pure, and depends
on no clock: what time decides (open, lapsed, young) is decided when it is read. Source: cold trials
spec §§1, 4.
"""
