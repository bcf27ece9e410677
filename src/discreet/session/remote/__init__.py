"""Remote sessions: the words that cross the network, and a session whose rows are behind a server."""
