"""Walks: how each kind of source is read to its end, as steps without a network.

A walk is a generator. It gives what to ask for and takes what was answered, so that pages from a
network and pages from a folder go through the same code. `drive` runs walks over a transport.
"""
