"""The statements about TensorFlow 1's TFRecordReader and about queues.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id.
"""

from __future__ import annotations

SECTION_4: dict[str, str] = {
    "4 read": "read gives (key, value); the key is `<path>:<offset>` of the record in the uncompressed stream.",
    "4 files": "Files are taken from the queue one after another; that one has ended is noticed by the next read, which counts it then. Empty files are passed over and counted.",
    "4 read_up_to": "read_up_to gives at most n records and never of two files; at the end of a file it gives fewer and counts the file at once. 0 gives none.",
    "4 queue ends": "When the queue is closed and empty, reading is an OutOfRangeError `FIFOQueue '...' is closed and has insufficient elements (requested 1, current size 0)`.",
    "4 counters": "num_records_produced and num_work_units_completed count records and files, as int64.",
    "4 reset": "reset zeroes the counts and drops the rest of the present file.",
    "4 options": 'options are TFRecordOptions, a string or a number; another string is a ValueError `Not a valid compression_type: "FOO"`.',
    "4 damaged": "A damaged or cut record is a DataLossError on every further call; records of the same read_up_to before it are lost, but counted. Less than a header at the end of a file is its end.",
    "4 missing": "A missing file is a NotFoundError once, then the next file comes; a folder is a FailedPreconditionError for ever.",
    "4 queue of a reader": "The queue must have one component of strings, each a single string; anything without a queue_ref is an AttributeError.",
    "4 string_input_producer": "string_input_producer gives the strings in order, or shuffled anew for each epoch in an order that the seed decides, num_epochs times; then the queue is closed.",
    "4 string_input_producer arguments": "No strings, `num_epochs` of 0 and a matrix are ValueErrors.",
    "4 match_filenames_once": "match_filenames_once gives the names that match, sorted.",
    "4 queue elements": "Queues take values, tuples or lists of values, and dicts where components have names; they are converted to the types of the queue.",
    "4 queue order": "FIFOQueue is first in first out; RandomShuffleQueue draws in an order that the seed decides.",
    "4 dequeue_many": "dequeue_many(n) stacks n elements, and needs known shapes; dequeue_up_to gives what is left of a closed queue.",
    "4 queue closed": "A closed queue refuses elements with a CancelledError `... is closed.`, gives what it has, and then is an OutOfRangeError; closing twice is a CancelledError.",
    "4 queue arguments": "Numbers of types, shapes and names must agree, and shapes must be known.",
    "4 queue blocking": "enqueue waits for room and dequeue for an element; close(cancel_pending_enqueues=True) ends enqueues that wait with a CancelledError.",
}
