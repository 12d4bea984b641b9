"""Transports: what answers the questions of walks. This is where a walk touches the world."""
