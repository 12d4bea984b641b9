"""Agentpedia: an encyclopedia folded from ordered pins."""
