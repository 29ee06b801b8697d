"""Branches, loops, tf.function, Python functions, printing, and switches that have no meaning here."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    **{
        name: Raw(f"tf.functions.flow:{name}")
        for name in (
            "cond",
            "case",
            "switch_case",
            "while_loop",
            "map_fn",
            "vectorized_map",
            "foldl",
            "foldr",
            "scan",
        )
    },
    **{
        f"nest.{name}": Raw(f"tf.tensors.nesting:{name}")
        for name in ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as")
    },
    "function": Raw("tf.functions.function:function"),
    "autograph.experimental.do_not_convert": Raw("tf.functions.function:do_not_convert"),
    "autograph.to_graph": Raw("tf.functions.function:to_graph"),
    "autograph.set_verbosity": Raw("tf.functions.scopes:set_verbosity"),
    "py_function": Raw("tf.functions.python_functions:py_function"),
    "numpy_function": Raw("tf.functions.python_functions:numpy_function"),
    "compat.v1.py_func py_func": Raw("tf.functions.python_functions:py_func"),
    "print": Raw("tf.functions.printing:print_v2"),
    "control_dependencies": Raw("tf.functions.scopes:control_dependencies"),
    "name_scope": Raw("tf.functions.scopes:name_scope"),
    "device": Raw("tf.functions.scopes:device"),
    "init_scope": Raw("tf.functions.scopes:init_scope"),
    "executing_eagerly": Raw("tf.functions.scopes:executing_eagerly"),
    "inside_function": Raw("tf.functions.scopes:inside_function"),
    "no_op": Raw("tf.functions.scopes:no_op"),
    "group": Raw("tf.functions.scopes:group"),
    "config.run_functions_eagerly config.experimental_run_functions_eagerly": Raw(
        "tf.functions.scopes:run_functions_eagerly"
    ),
    "config.functions_run_eagerly config.experimental_functions_run_eagerly": Raw(
        "tf.functions.scopes:functions_run_eagerly"
    ),
    "config.list_physical_devices config.experimental.list_physical_devices": Raw(
        "tf.functions.scopes:list_physical_devices"
    ),
    "config.experimental.set_memory_growth": Raw("tf.functions.scopes:set_memory_growth"),
    "config.threading.set_inter_op_parallelism_threads": Raw("tf.functions.scopes:set_threads"),
    "config.threading.set_intra_op_parallelism_threads": Raw("tf.functions.scopes:set_threads"),
    "config.threading.get_inter_op_parallelism_threads": Raw("tf.functions.scopes:get_threads"),
    "config.threading.get_intra_op_parallelism_threads": Raw("tf.functions.scopes:get_threads"),
    "compat.v1.enable_eager_execution enable_eager_execution compat.v1.enable_v2_behavior": Raw(
        "tf.functions.scopes:enable_eager_execution"
    ),
    "compat.v1.disable_eager_execution disable_eager_execution compat.v1.disable_v2_behavior disable_v2_behavior": Raw(
        "tf.functions.scopes:disable_eager_execution"
    ),
    "get_logger": Raw("tf.v1.logs:get_logger"),
    **{
        f"compat.v1.logging.{name} logging.{name}": Raw(f"tf.v1.logs:{name}")
        for name in (
            "DEBUG",
            "ERROR",
            "FATAL",
            "INFO",
            "WARN",
            "debug",
            "error",
            "fatal",
            "get_verbosity",
            "info",
            "log",
            "set_verbosity",
            "warn",
            "warning",
        )
    },
}
