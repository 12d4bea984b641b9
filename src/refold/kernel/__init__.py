"""What every part stands on, and nothing that knows a protocol."""
