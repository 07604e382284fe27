"""`python -m argscichat` is the command `argscichat`."""

from argscichat.cli import main

main()
