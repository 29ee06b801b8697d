"""What tests of stores share: the suite that holds for every store."""
