"""What byte strings inside of records hold: raw numbers, base64, compressed bytes, tensors, JSON, other messages."""
