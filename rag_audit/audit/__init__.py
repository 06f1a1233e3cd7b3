"""The human side of an audit: pure rules over decisions. Nothing here reads a file or a clock."""
