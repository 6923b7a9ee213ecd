"""The ``cobayes`` command."""

import sys


def main() -> None:
    """Run the command line; the installed command calls this function."""
    try:
        from cobayes.cli.app import app

        app(prog_name="cobayes")
    except KeyboardInterrupt:  # while modules were still being imported
        sys.exit(130)
