"""Put findings together: the spec, its profiles, the comparison with a base, and the whole as JSON."""
