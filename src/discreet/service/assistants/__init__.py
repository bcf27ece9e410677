"""Assistants: tools over a service for programs that speak the Model Context Protocol. [How](service-assistants.md)."""
