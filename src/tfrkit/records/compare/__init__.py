"""Two data sets beside each other: which records, features and values differ. Reading and counting live elsewhere."""
