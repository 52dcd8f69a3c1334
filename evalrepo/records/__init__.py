"""What the project's files and results mean: frozen models and plain data, without I/O."""
