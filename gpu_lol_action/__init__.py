"""GPUs from pull requests: read ML code, propose a machine, provision it through SkyPilot, tear it down."""

__version__ = "0.1.0"
