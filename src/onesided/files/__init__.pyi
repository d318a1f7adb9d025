from . import formula_contacts as formula_contacts
from . import formula_system as formula_system
from . import imports as imports
from . import part_kinds as part_kinds
from . import part_system as part_system
from . import part_tables as part_tables
from . import reading as reading
from . import schema as schema
