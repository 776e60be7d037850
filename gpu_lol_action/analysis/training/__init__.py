"""Decide how a run trains, or serves a model: method, numbers, batch, length, optimizer, sharding."""
