"""The PostgreSQL face: questions by PostgreSQL's protocol 3.0, for clients and tools that speak it."""
