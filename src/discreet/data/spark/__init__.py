"""Frames of a Spark session: contributions are bounded by SQL on the cluster."""
