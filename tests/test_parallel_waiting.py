import os
import subprocess
import sys

import pytest

from numbatok import native

PROGRAM = """
import os
import numpy as np
import numbatok
from numbatok import parallel
parallel.LOAD_BYTES = parallel.WORTH_BYTES = 1
parallel.n_threads = lambda: 2
tok = numbatok.load("gpt2")
assert parallel._home is None
assert tok.encode_batch(["words of a text " * 99_999] * 2).ids.size
assert parallel._home == os.getpid()
print(os.environ.get("OMP_WAIT_POLICY"))
"""


@pytest.mark.skipif(native.interpreted(), reason="interpreted kernels run serially")
@pytest.mark.parametrize("chosen", [None, "active"])
def test_how_threads_wait_is_set_only_while_they_start(chosen):
    environment = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    if chosen:
        environment["OMP_WAIT_POLICY"] = chosen
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(chosen)
