from . import environment as environment
from . import listing as listing
