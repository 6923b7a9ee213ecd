"""Print the requirements of cobayes with some extras, one per line, as in pyproject.toml."""

import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
waiting = [*project["dependencies"], *(f"cobayes[{extra}]" for extra in sys.argv[1:])]
for requirement in waiting:  # the list grows
    if requirement.startswith("cobayes["):
        for extra in requirement[len("cobayes[") : -1].split(","):
            waiting += project["optional-dependencies"][extra]
    else:
        print(requirement)
