"""`python -m evalrepo`."""

from evalrepo.cli import main

if __name__ == "__main__":
    main()
