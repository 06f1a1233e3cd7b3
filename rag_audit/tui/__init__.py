"""The terminal UI: screens and widgets over archived runs; opens no file and calls no provider itself."""
