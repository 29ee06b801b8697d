"""Tables of Hive, which Spark reads. Text that Hive has exported is read by `delimited/`."""
