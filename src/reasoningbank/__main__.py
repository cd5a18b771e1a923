"""`python -m reasoningbank`: the command line."""

from reasoningbank.cli import main

if __name__ == "__main__":
    main()
