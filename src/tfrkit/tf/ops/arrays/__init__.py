"""Making arrays, and changing their shape or choosing from them."""
