"""What the package decides by itself, for those who listen: `logging.getLogger("onesided")`, silent otherwise."""

import logging

LOG = logging.getLogger("onesided")
LOG.addHandler(logging.NullHandler())
