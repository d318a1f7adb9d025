from . import cable_runs as cable_runs
from . import environment as environment
from . import listing as listing
from . import mechanisms as mechanisms
