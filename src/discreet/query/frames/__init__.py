"""Questions as calls: frames, and what is asked of them."""
