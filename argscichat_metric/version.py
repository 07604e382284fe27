"""The version of the metric, which every signature names."""

__version__ = "0.1.0"
