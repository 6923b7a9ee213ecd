"""``python -m cobayes``: the same as the command ``cobayes``."""

from cobayes.cli import main

if __name__ == "__main__":
    main()
