"""The ``cobayes`` command."""


def main() -> None:
    """Run the command line; the entry point that the installed command calls."""
    from cobayes.cli.app import app

    app()
