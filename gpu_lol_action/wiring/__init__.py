"""The only place that builds real hands: what a run is given, from what its surroundings say. A module per door."""
