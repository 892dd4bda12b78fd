"""``python -m npueval``."""

from npueval.cli import main

if __name__ == "__main__":
    main()
