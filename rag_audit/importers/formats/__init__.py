"""One module a format: how it is recognised, and how its entries become rows."""
