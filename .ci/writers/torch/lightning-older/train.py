# The same as lightning, by the version of two years ago, under the package's own name.
import os
import runpy
import sys

import pytorch_lightning
import pytorch_lightning.callbacks
import pytorch_lightning.loggers

for module in ("", ".callbacks", ".loggers"):
    sys.modules["lightning.pytorch" + module] = sys.modules["pytorch_lightning" + module]
sys.modules["lightning"] = pytorch_lightning
runpy.run_path(os.path.join(os.path.dirname(__file__), "../lightning/train.py"))
