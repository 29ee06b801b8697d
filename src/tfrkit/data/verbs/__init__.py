"""The verbs of Dataset, grouped by what they do: each makes a node. What a stage does is in the file of the stage."""
