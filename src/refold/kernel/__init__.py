"""What every part stands on, and nothing that knows a protocol.

Each module names its public surface in `__all__`. Nothing is re-exported here: a command that needs
errors or times should not load the cryptography library, which takes 20 ms.
"""
