# What the stub generator cannot find out: it runs on any Python, and before 3.12 the buffer protocol
# is not visible as a method.
_core.Buffer.__len__:
    def __len__(self) -> int: ...

    def __buffer__(self, flags: int, /) -> memoryview: ...

_core.Buffer.__buffer__:

_core.Buffer.__release_buffer__:

_core.RecordCursor.__iter__:
    def __iter__(self) -> RecordCursor: ...

_core.RecordCursor.__next__:
    def __next__(self) -> bytes: ...

