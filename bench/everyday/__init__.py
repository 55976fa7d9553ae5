"""Everyday questions: what people ask of their own notes and chats, through the public API with all defaults."""
