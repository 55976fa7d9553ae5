"""The doors of a memory for other programs. Each is thin: it asks a `Memory` and says what came back."""
