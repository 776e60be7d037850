"""Decide what a run is given of pictures, video and sound, and which networks for them it builds."""
