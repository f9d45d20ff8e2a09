"""python -m gpukit.fake.torch --table: what becomes of each operator."""

import sys

from .table import main

sys.exit(main(sys.argv[1:]))
