"""How rows come in: files and frames are read, cleaned, and taken over with columns of six kinds."""
