from . import choose as choose
