"""Runs examples/python/orders.py, and looks at what it prints."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
EXPECTED = """refused with error 547
Bo: 1 orders, 5.00
Åse: 2 orders, 119.90
"""


def main():
    command = [sys.executable, ROOT / "examples/python/orders.py", os.environ["PIKEPOLE_PORT"], os.environ["PIKEPOLE_PASSWORD"]]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    ended = subprocess.run(command, capture_output=True, env=environment, check=False)
    said = ended.stdout.decode()
    if ended.returncode == 0 and said == EXPECTED:
        print("examples/python/orders.py\tok\t")
    else:
        why = f"{said} {ended.stderr.decode()[-200:]}".replace("\n", " ").replace("\t", " ")
        print(f"examples/python/orders.py\tfailed\tstatus {ended.returncode}: {why}")


main()
