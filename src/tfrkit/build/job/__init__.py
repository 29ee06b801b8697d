"""A job from plan to manifest: which tasks there are, who owns the output, running, journals and reports.

What the records are is not known here: recipes make them.
"""
