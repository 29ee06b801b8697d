"""The same random bytes through tfrkit, TensorFlow and protobuf: every disagreement is a bug, or stands in one list.

    python -m fuzz.differential --cases 1000000 --seed 1

A case is a spec and some records. Under TensorFlow's policy tfrkit must give TensorFlow's values or its error; under
its own policy it must give of the raw bytes what TensorFlow gives of the same message rewritten by protobuf.
"""
