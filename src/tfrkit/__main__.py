"""`python -m tfrkit`: the command `tfr`."""

from tfrkit.cli.main import main

if __name__ == "__main__":
    main()
