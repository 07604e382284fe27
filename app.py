"""The Space: see why an agent got its score.

python app.py [--data FOLDER]
"""

import argparse

from argscichat.space.page import build_demo, launch_settings, warm_up


def main() -> None:
    """Build the app and serve it."""
    parser = argparse.ArgumentParser(description="Serve the app that shows why an agent got its score.")
    parser.add_argument("--data", help="folder that `argscichat data build` wrote, to read beside the sample")
    demo = build_demo(parser.parse_args().data)
    warm_up()
    demo.launch(**launch_settings())


if __name__ == "__main__":
    main()
