from . import asked_study as asked_study
from . import claims as claims
from . import futures as futures
