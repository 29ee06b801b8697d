"""Names of TensorFlow that people look for and that are not here, with what to do instead."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry

_SESSION: Final = Absent(
    "There are no sessions: everything runs when it is called. Take the value of a tensor with `.numpy()`, and iterate "
    "over a dataset with `for`."
)
_PLACEHOLDER: Final = Absent("There is nothing to feed: call the function with the value itself.")
_VARIABLES: Final = Absent(
    "There are no variables and no training here: give the batches, or their `.numpy()`, to the framework that trains."
)
_GRAPH: Final = Absent("There are no graphs: functions run as Python. Leave it out.")
_ITERATOR: Final = Absent("Use `for element in dataset`, or `iter(dataset)` and `next`.")
_TRAINING: Final = Absent(
    "Training is not part of tfrkit: give the batches, or their `.numpy()`, to PyTorch, JAX or Keras 3."
)
_OUT: Final = Absent("It is not part of tfrkit, which makes, checks and reads TFRecord data.")

NAMES: Final[dict[str, Entry]] = {
    "Session InteractiveSession": _SESSION,
    "get_default_session ConfigProto GPUOptions RunOptions": _SESSION,
    "placeholder placeholder_with_default sparse_placeholder ragged.placeholder": _PLACEHOLDER,
    "Variable get_variable variable_scope get_variable_scope VariableScope trainable_variables": _VARIABLES,
    "global_variables local_variables global_variables_initializer local_variables_initializer": _VARIABLES,
    "initialize_all_variables initialize_local_variables variables_initializer assign assign_add": _VARIABLES,
    "tables_initializer GradientTape gradients custom_gradient hessians VariableAggregation": _VARIABLES,
    "Graph get_default_graph reset_default_graph GraphDef Operation graph_util import_graph_def": _GRAPH,
    "add_to_collection get_collection GraphKeys get_static_graph wrap_function raw_ops": _GRAPH,
    "data.make_one_shot_iterator data.make_initializable_iterator": _ITERATOR,
    "keras layers estimator distribute tpu contrib optimizers initializers losses metrics": _TRAINING,
    "feature_column saved_model summary lite lookup mixed_precision Module signal audio quantization": _OUT,
    "app flags test profiler sysconfig xla mlir load_op_library load_library user_ops": _OUT,
}
