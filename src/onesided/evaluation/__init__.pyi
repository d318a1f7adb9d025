from . import compiling as compiling
