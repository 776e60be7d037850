"""The whole story offline: a GitHub stand-in, a loopback RunPod, the story."""
