"""The chain side: pins as the network's indexers list them."""
