"""What is in records: schemas, statistics, and the samples that they are made from."""
