"""The device side of local privacy: encoders in plain Python, and the budget that a device keeps."""
