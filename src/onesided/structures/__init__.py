"""Structures made of parts: numbered, assembled, differentiated element by element."""
