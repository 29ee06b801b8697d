"""What only files of the operating system can do: locks, and two names exchanged in one step.

For callers that have asked for `Traits.local` or `Traits.locks` first. Where a store has no locks, there is
`stores/lease.py`.
"""
