"""The migration documents: bytes in, a tree out; addresses, places, layout, transactions."""
