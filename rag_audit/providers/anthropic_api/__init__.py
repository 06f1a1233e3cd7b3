"""Models behind the Anthropic protocol: the service itself, a gateway, or a local server that speaks it."""
