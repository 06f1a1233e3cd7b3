"""Text on its way to a person: the one door for untrusted text, widths in cells, words and identifiers."""
