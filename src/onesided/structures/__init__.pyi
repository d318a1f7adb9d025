from . import contact_laws as contact_laws
from . import supports as supports
from . import symmetry_search as symmetry_search
from . import without_slack as without_slack
