"""Tokens of an identity provider, by OpenID Connect: people whom the registry knows. [How](service-oidc.md)."""
