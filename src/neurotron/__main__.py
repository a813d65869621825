"""`python -m neurotron` is the `neurotron` command."""

from neurotron.cli import main

if __name__ == "__main__":
    main()
