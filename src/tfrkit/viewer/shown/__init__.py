"""What the page shows of records and files, as values that JSON has: rows, records, values, pictures, wire format.

Each is made from records in memory. Which files there are and how they are read is in `viewer/session.py`.
"""
