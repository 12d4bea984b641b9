"""The client of MAN indexers: pages (`client`, `rows`), whole pins (`bodies`), walks to an end.

`walk` reads a list to its end and `report` says what was got and what was not; `merge` is the pure
part of it. `follow` reads what is new, `overlap` is the pure part of that.
"""
