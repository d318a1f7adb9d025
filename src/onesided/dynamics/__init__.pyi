from . import asked as asked
from . import choose as choose
