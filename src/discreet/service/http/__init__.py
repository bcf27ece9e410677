"""HTTP: one of the faces of the service, on Starlette. [The protocol](service-http.md)."""
