"""Prints the directory for packages that this Python searches below PREFIX/lib. Fails if it searches none."""

import os
import site
import sys

lib = os.path.join(os.path.abspath(sys.argv[1]), "lib", "")
searched = site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
found = [path for path in searched if path.startswith(lib)]
if not found:
    sys.exit(1)
print(found[0])
