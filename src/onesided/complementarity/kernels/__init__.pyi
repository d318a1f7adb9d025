from . import friction_cones as friction_cones
from . import lcp as lcp
from . import measure_steps as measure_steps
from . import pivots as pivots
from . import stuck_forces as stuck_forces
