from . import compiling as compiling
from . import jax_process as jax_process
