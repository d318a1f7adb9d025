from . import cable_runs as cable_runs
from . import environment as environment
from . import event_table as event_table
from . import listing as listing
from . import live_progress as live_progress
from . import model_facts as model_facts
