"""Making arrays, changing their shape, and choosing from them."""
