"""Widgets: one a module; they paint what they are given and post what a person did."""
