"""What leaves the product: JSON shapes for scripts, tables, pages and reports, all written from archived runs."""
