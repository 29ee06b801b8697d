"""What the data is: blocks of records (messages, features, specs and columns stand on them)."""
