"""`python -m gpuga`: the same program as `gpuga`."""

from gpuga.cli.main import main

if __name__ == "__main__":
    main()
