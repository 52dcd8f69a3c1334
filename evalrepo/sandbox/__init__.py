"""A fresh, private directory tree for every rep, and what keeps an agent in it."""
