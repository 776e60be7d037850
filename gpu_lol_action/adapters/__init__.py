"""Talk to one third party each; translate its errors; decide nothing."""
