"""Screens: one a module; each owns what it shows and asks the source for it."""
